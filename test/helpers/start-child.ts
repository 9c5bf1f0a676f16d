import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const launcher = fileURLToPath(new URL('../../bin/livehouse.cjs', import.meta.url))

export type Child = ReturnType<typeof startChild>

/**
 * Starts `livehouse` with these arguments and settings, within a test. A process that outlives its test is killed, and
 * its standard error is printed: the test has waited for it in vain.
 */
export function startChild(argv: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [launcher, ...argv], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  const output = { text: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (output.text += text))
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({
    code: typeof code === 'number' ? code : null,
    signal: typeof signal === 'string' ? signal : null,
    /** Its standard error. */
    error: output.text,
  }))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const failEarly = async (): Promise<never> => {
    const { code, signal, error } = await ended
    throw new Error(`livehouse ${argv.join(' ')} ended with ${code ?? signal} too early:\n${error}`)
  }
  onTestFinished(async () => {
    if (hasEnded()) return
    child.kill('SIGKILL')
    process.stderr.write(`livehouse ${argv.join(' ')} outlived its test:\n${(await ended).error}`)
  })
  /** Waits for an event that the process causes. @throws with its standard error if it ends first */
  const whileRunning = async <T>(event: Promise<T>): Promise<T> => await Promise.race([event, ended.then(failEarly)])
  return {
    process: child,
    ended,
    /** Waits for a text on standard error. @returns all of its standard error @throws with it if it ends first */
    untilOutput: async (text: string) => {
      while (!output.text.includes(text)) await whileRunning(once(child.stderr, 'data'))
      return output.text
    },
    /** For tests that poll for something that the process does. @throws with its standard error once it has ended */
    requireRunning: async () => {
      if (hasEnded()) await failEarly()
    },
    whileRunning,
  }
}

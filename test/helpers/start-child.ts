import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const launcher = fileURLToPath(new URL('../../bin/livehouse.cjs', import.meta.url))

export type Child = ReturnType<typeof startChild>

/**
 * Starts `livehouse` with these arguments and settings, within a test. One that outlives its test is killed, and what it had said
 * is shown: the test has waited for it in vain.
 */
export function startChild(argv: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [launcher, ...argv], { env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  const heard = { text: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (heard.text += text))
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({
    code: typeof code === 'number' ? code : null,
    signal: typeof signal === 'string' ? signal : null,
    /** Its standard error. */
    error: heard.text,
  }))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const tooEarly = async (): Promise<never> => {
    const { code, signal, error } = await ended
    throw new Error(`livehouse ${argv.join(' ')} ended with ${code ?? signal} too early:\n${error}`)
  }
  onTestFinished(async () => {
    if (hasEnded()) return
    child.kill('SIGKILL')
    process.stderr.write(`livehouse ${argv.join(' ')} outlived its test:\n${(await ended).error}`)
  })
  /** What the process is to bring about. @throws with what it has said, when it ends before that */
  const whileRunning = async <T>(coming: Promise<T>): Promise<T> => await Promise.race([coming, ended.then(tooEarly)])
  return {
    process: child,
    ended,
    /** Until it says this on standard error. @returns all that it has said @throws with that, when it ends before */
    hears: async (text: string) => {
      while (!heard.text.includes(text)) await whileRunning(once(child.stderr, 'data'))
      return heard.text
    },
    /** For a test that asks again and again for something that the process is to do. @throws with what it has said, once it has ended */
    requireRunning: async () => {
      if (hasEnded()) await tooEarly()
    },
    whileRunning,
  }
}

import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'
import { hostname } from 'node:os'
import { type ProgramOptions, type ProgramRun, runProgram } from './run-program.mts'

/** `livehouse worker` as a process of its own, which works on what is queued. */
export interface Worker {
  readonly process: ChildProcess
  /** Once a signal has ended it. */
  readonly ended: Promise<ProgramRun>
}

/** @throws when it ends before it has started, with what it has said */
export async function startWorker(options: ProgramOptions, concurrency: number): Promise<Worker> {
  const started = Promise.withResolvers<ChildProcess>()
  const ended = runProgram(['src/cli.ts', 'worker', '--concurrency', String(concurrency)], {
    ...options,
    env: { ...options.env, LOG_LEVEL: 'info' },
    onStart: started.resolve,
    accepted: [143],
  })
  // A failure before it has started is thrown below.
  ended.catch(() => {})
  const process = await started.promise
  await untilStarted(process)
  return { process, ended }
}

/** As the leases that it holds name it. */
export function holderOf({ process }: Worker): string {
  return `${hostname()} process ${process.pid}`
}

async function untilStarted({ stderr }: ChildProcess): Promise<void> {
  if (stderr === null) throw new Error('its standard error is piped')
  let heard = ''
  for await (const [text] of on(stderr, 'data', { close: ['end'] })) {
    heard += text
    if (heard.includes('worker.started')) return
  }
  throw new Error(`a worker ended too early:\n${heard}`)
}

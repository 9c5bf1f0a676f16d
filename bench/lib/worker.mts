import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'
import { hostname } from 'node:os'
import { type ProgramOptions, type ProgramRun, runProgram } from './run-program.mts'

/** `livehouse worker` as a process of its own. */
export interface Worker {
  readonly process: ChildProcess
  /** Resolves once SIGTERM has ended it. */
  readonly ended: Promise<ProgramRun>
}

/** Waits until the worker has started. @throws with its standard error if it ends first */
export async function startWorker(options: ProgramOptions, concurrency: number): Promise<Worker> {
  const started = Promise.withResolvers<ChildProcess>()
  const ended = runProgram(['src/cli.ts', 'worker', '--concurrency', String(concurrency)], {
    ...options,
    env: { ...options.env, LOG_LEVEL: 'info' },
    onStart: started.resolve,
    accepted: [143],
  })
  // waitForStart throws if it ends early.
  ended.catch(() => {})
  const process = await started.promise
  await waitForStart(process)
  return { process, ended }
}

/** The worker's name as a holder of leases. */
export function holderOf({ process }: Worker): string {
  return `${hostname()} process ${process.pid}`
}

async function waitForStart({ stderr }: ChildProcess): Promise<void> {
  if (stderr === null) throw new Error('the standard error of a worker must be piped')
  let output = ''
  for await (const [text] of on(stderr, 'data', { close: ['end'] })) {
    output += text
    if (output.includes('worker.started')) return
  }
  throw new Error(`a worker ended too early:\n${output}`)
}

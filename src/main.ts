import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandEntry } from './cli/command.ts'
import { commands } from './cli/commands.ts'
import { exitCodeOfError } from './cli/exit-codes.ts'
import { runCommandLine } from './cli/run-command-line.ts'
import { callIfStillRunning, systemClock } from './core/clock.ts'
import { LivehouseError } from './core/errors.ts'
import { packageFolder } from './core/program-files.ts'

/** The time after a signal in which the work in flight may finish or roll back. */
const GRACE_MS = 10_000

/** The program: reads the arguments, runs one verb, sets the exit code. It alone handles signals and exits. */
export async function main(verbs: Readonly<Record<string, CommandEntry>> = commands): Promise<void> {
  const controller = new AbortController()
  const emergency = Promise.withResolvers<never>()
  emergency.promise.catch(() => {})
  listenToSignals(controller, emergency.reject)
  endWithLauncher()
  for (const bug of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(bug, (error: unknown) => {
      emergency.reject(error)
      controller.abort(error)
    })
  }
  const hasOutputFailed = watchOutput()
  let hasEnded = false
  // Node exits 0 when nothing is left to wait for, even in the middle of a verb; a job file may also call exit.
  process.on('exit', (code) => {
    if (!hasEnded && code === 0) process.exitCode = 1
    if (!hasEnded && !controller.signal.aborted)
      process.stderr.write('livehouse: the program was ended before its work was done, perhaps by a job file\n')
  })
  const exitCode = await runCommandLine({
    argv: process.argv.slice(2),
    version: readVersion(),
    commands: verbs,
    environment: undefined,
    clock: systemClock,
    signal: controller.signal,
    emergency: emergency.promise,
    writeOut: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
    isOutputTerminal: process.stdout.isTTY,
  })
  hasEnded = true
  process.exitCode = exitCode || Number(hasOutputFailed())
  // A job file may leave something open, such as a connection, so exit after a while. Flush first: a pipe may be slow.
  const endLater = () => callIfStillRunning(GRACE_MS, endProcess)
  process.stdout.write('', () => process.stderr.write('', endLater))
  // After a bug or the grace period, do not wait for work that is still running.
  emergency.promise.catch(() => {
    process.exitCode ||= 1
    endProcess()
  })
}

/** Reports a failure to write the output, such as a full disk. @returns a function that tells whether one happened */
function watchOutput(): () => boolean {
  let hasFailed = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader closed the pipe, as in `livehouse status | head -1`: that is not an error.
    if (code === 'EPIPE' || hasFailed) return
    hasFailed = true
    process.stderr.write(`livehouse: the output cannot be written: ${message}. What the command has done stays done.\n`)
    process.exitCode ||= 1
  })
  // A failure to write the log cannot be reported anywhere. The work goes on.
  process.stderr.on('error', () => {})
  return () => hasFailed
}

/** Exits with `process.exitCode`. */
function endProcess(): void {
  // oxlint-disable-next-line node/no-process-exit, unicorn/no-process-exit
  process.exit()
}

/** A signal repeated within this time counts once: a terminal also sends it to the launcher, which forwards it. */
const SAME_SIGNAL_MS = 300

/** Ends this process when its launcher, which runs under an old Node and waits for it, has been killed. */
function endWithLauncher(): void {
  process.once('disconnect', () => process.emit('SIGTERM', 'SIGTERM'))
  process.channel?.unref()
}

function listenToSignals(controller: AbortController, endNow: (error: unknown) => void): void {
  let firstMs = 0
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const error = new LivehouseError('run.interrupted', `interrupted by ${signal}`, { signal })
      const nowMs = systemClock.now()
      const isSame = signal === 'SIGHUP' || nowMs - firstMs < SAME_SIGNAL_MS
      if (controller.signal.aborted && isSame) return
      // A second Ctrl-C exits at once.
      // oxlint-disable-next-line node/no-process-exit, unicorn/no-process-exit
      if (controller.signal.aborted) process.exit(exitCodeOfError(error))
      firstMs = nowMs
      controller.abort(error)
      callIfStillRunning(GRACE_MS, () => endNow(error))
    })
  }
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  return String(Object(manifest).version)
}

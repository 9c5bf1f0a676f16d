import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandEntry } from './cli/command.ts'
import { commands } from './cli/commands.ts'
import { exitCodeOfError } from './cli/failure.ts'
import { runCommandLine } from './cli/run-command-line.ts'
import { callIfStillRunning, systemClock } from './core/clock.ts'
import { LivehouseError } from './core/errors.ts'
import { packageFolder } from './core/program-files.ts'

/** After a signal, what is in flight has this long to finish or to roll back. */
const GRACE_MS = 10_000

/** The program: reads the arguments, runs one verb, sets the exit code. The only place that touches the process. */
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
  const isUnwritten = watchOutput()
  let hasEnded = false
  // Node ends a process that has nothing to wait for, even within a verb, and a job file may end it: no success either.
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
  process.exitCode = exitCode || Number(isUnwritten())
  // A job file may have left something open, such as a connection. What was printed is waited for: a pipe may be slow.
  const endLater = () => callIfStillRunning(GRACE_MS, endProcess)
  process.stdout.write('', () => process.stderr.write('', endLater))
  // What still runs after a bug or after the grace period is not waited for; everything else ends by itself.
  emergency.promise.catch(() => {
    process.exitCode ||= 1
    endProcess()
  })
}

/** Says so where the output cannot be written, such as on a full disk. @returns whether that was so */
function watchOutput(): () => boolean {
  let isUnwritten = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // `livehouse status | head -1` closes our output: there is nowhere left to write.
    if (code === 'EPIPE' || isUnwritten) return
    isUnwritten = true
    process.stderr.write(`livehouse: the output cannot be written: ${message}. What the command has done stays done.\n`)
    process.exitCode ||= 1
  })
  // Where a log cannot be written, nobody can be told, and the work goes on.
  process.stderr.on('error', () => {})
  return () => isUnwritten
}

/** With the exit code that is set. */
function endProcess(): void {
  // oxlint-disable-next-line node/no-process-exit, unicorn/no-process-exit
  process.exit()
}

/** Within this time a repeated signal is the same one: a terminal sends it to the launcher too, which passes it on. */
const SAME_SIGNAL_MS = 300

/** The launcher under an old Node waits for this process: where it is killed, nobody else would end this one. */
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
      // A second Ctrl-C ends at once.
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

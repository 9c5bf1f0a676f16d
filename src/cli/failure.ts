import { type Failure, problemsOf } from '../app/outcome.ts'
import { hasCode, LivehouseError, messageOf } from '../core/errors.ts'
import type { RunStatus } from '../core/outcome.ts'

/** Describes an error that stopped a command: a message, then a line for each problem. `see`: where to find help. */
export function describeFailure({ command, error }: Failure, see: string): string {
  const name = ['livehouse', command].join(' ').trim()
  // The system refuses, for lack of a right or of room on a disk.
  if (error instanceof Error && 'syscall' in error) return `${name}: ${error.message}`
  if (!(error instanceof LivehouseError)) {
    return `${name}: internal error: ${messageOf(error)}\n  This is a bug. LOG_LEVEL=debug shows where it happened.`
  }
  const problems = problemsOf(error)
  const isNew =
    hasCode(error, 'config.invalid') && problems.some((each) => each.startsWith('LIVEHOUSE_BASE_URL is not set'))
  const first = isNew ? ['The first time, `livehouse init` asks for the settings; `livehouse demo` needs none.'] : []
  return [`${name}: ${error.message}${see}`, ...problems.map((problem) => `  ${problem}`), ...first].join('\n')
}

/** The exit code for each status of a run. */
export const exitCodes: Readonly<Record<RunStatus, number>> = { ok: 0, failed: 1, partial: 3, waiting: 4 }
const codeOfSignal = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const

/** The exit code for a wrong flag, argument or setting. */
export const WRONG_USE = 2

/** The exit code for an error that stopped a command. */
export function exitCodeOfError(error: unknown): number {
  if (hasCode(error, 'usage.invalid') || hasCode(error, 'config.invalid')) return WRONG_USE
  if (hasCode(error, 'run.interrupted')) return codeOfSignal[error.details.signal]
  return 1
}

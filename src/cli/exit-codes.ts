import { hasCode } from '../core/errors.ts'
import type { RunStatus } from '../core/outcome.ts'

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

import { hasCode } from '../core/errors.ts'
import type { RunStatus } from '../core/outcome.ts'

const codeOfStatus: Readonly<Record<RunStatus, number>> = { ok: 0, failed: 1, partial: 3, waiting: 4 }
const codeOfSignal = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const

/** The exit code of wrong use: a flag or a setting. */
export const WRONG_USE = 2

/** How a run ended, as an exit code (contract, section 2). */
export function exitCodeOfStatus(status: RunStatus): number {
  return codeOfStatus[status]
}

/** What stopped a command, as an exit code (contract, section 2). A request that is refused before it is sent is wrong use. */
export function exitCodeOfError(error: unknown): number {
  if (hasCode(error, 'usage.invalid') || hasCode(error, 'config.invalid')) return WRONG_USE
  if (hasCode(error, 'api.invalidRequest')) return WRONG_USE
  if (hasCode(error, 'run.interrupted')) return codeOfSignal[error.details.signal]
  return 1
}

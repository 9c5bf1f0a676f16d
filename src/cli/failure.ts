import { type Failure, problemsOf } from '../app/outcome.ts'
import { hasCode, LivehouseError, messageOf, wrongUse } from '../core/errors.ts'
import type { RunStatus } from '../core/outcome.ts'

/** What stopped a command, for a person: one message, and its problems one a line. `see`: where help is. */
export function failureText({ command, error }: Failure, see: string): string {
  const name = ['livehouse', command].join(' ').trim()
  if (!(error instanceof LivehouseError)) {
    return `${name}: internal error: ${messageOf(error)}\n  This is a bug. LOG_LEVEL=debug shows where it happened.`
  }
  const problems = problemsOf(error)
  const isNew =
    hasCode(error, 'config.invalid') && problems.some((each) => each.startsWith('LIVEHOUSE_BASE_URL is not set'))
  const first = isNew ? ['The first time, `livehouse init` asks for the settings; `livehouse demo` needs none.'] : []
  return [`${name}: ${error.message}${see}`, ...problems.map((problem) => `  ${problem}`), ...first].join('\n')
}

/** How a run ended, as an exit code. */
export const exitCodes: Readonly<Record<RunStatus, number>> = { ok: 0, failed: 1, partial: 3, waiting: 4 }
const codeOfSignal = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const

/** The exit code of wrong use: a flag or a setting. */
export const WRONG_USE = 2

/** What stopped a command, as an exit code. */
export function exitCodeOfError(error: unknown): number {
  if (hasCode(error, 'usage.invalid') || hasCode(error, 'config.invalid')) return WRONG_USE
  if (hasCode(error, 'run.interrupted')) return codeOfSignal[error.details.signal]
  return 1
}

/** Takes a whole sentence about what is wrong with a flag or an argument. */
export type Refuse = (problem: string) => void

/**
 * Reads with `read`, which refuses what is wrong.
 * @throws LivehouseError `usage.invalid` with every refusal at once.
 */
export function checkUsage<T>(read: (refuse: Refuse) => T): T {
  const problems: string[] = []
  const result = read((problem) => void problems.push(problem))
  if (problems.length === 0) return result
  throw wrongUse(...problems)
}

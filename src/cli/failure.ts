import { type Failure, failureOutcome, messageOf, outcomeJson, problemsOf } from '../app/outcome.ts'
import { LivehouseError } from '../core/errors.ts'

/** What stopped a command, for a person: one message, and its problems one a line. */
export function failureText({ command, error }: Failure): string {
  const name = ['livehouse', command].join(' ').trim()
  if (!(error instanceof LivehouseError)) {
    return `${name}: internal error: ${messageOf(error)}\n  This is a bug. LOG_LEVEL=debug shows where it happened.`
  }
  return [`${name}: ${error.message}`, ...problemsOf(error).map((problem) => `  ${problem}`)].join('\n')
}

/** What stopped a command, as the one JSON object that `--json` prints. */
export function failureJson(failure: Failure): string {
  return outcomeJson(failureOutcome(null, failure))
}

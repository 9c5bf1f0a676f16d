import { LivehouseError } from '../core/errors.ts'
import type { RunProblem } from '../core/outcome.ts'
import { outcomeJson } from './outcome-json.ts'

interface Failure {
  /** The verb, or what was typed in its place. */
  readonly command: string
  readonly error: unknown
  readonly startedAt: string
  readonly finishedAt: string
}

/** What stopped a command, for a person: one message, and its problems one a line. */
export function failureText({ command, error }: Failure): string {
  const name = ['livehouse', command].join(' ').trim()
  if (!(error instanceof LivehouseError)) {
    return `${name}: internal error: ${messageOf(error)}\n  This is a bug. LOG_LEVEL=debug shows where it happened.`
  }
  return [`${name}: ${error.message}`, ...problemsOf(error).map((problem) => `  ${problem}`)].join('\n')
}

/** What stopped a command, as the one JSON object that `--json` prints. */
export function failureJson({ command, error, startedAt, finishedAt }: Failure): string {
  const code = error instanceof LivehouseError ? error.code : 'internal'
  const problems = problemsOf(error)
  const messages = problems.length > 0 ? problems : [messageOf(error)]
  const errors = messages.map((message): RunProblem => ({ stream: null, partition: null, code, message }))
  return outcomeJson({
    runId: null,
    command,
    status: 'failed',
    startedAt,
    finishedAt,
    resumesAt: null,
    streams: {},
    errors,
  })
}

function problemsOf(error: unknown): readonly string[] {
  const details = error instanceof LivehouseError ? error.details : {}
  return 'problems' in details ? details.problems : []
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

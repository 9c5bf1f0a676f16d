import { LivehouseError } from '../core/errors.ts'
import type { RunOutcome, RunProblem } from '../core/outcome.ts'
import { sqlStateOf } from '../core/sql-state-of.ts'
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
export function failureJson(failure: Failure): string {
  return outcomeJson(failureOutcome(null, failure))
}

/** A run, or a command before it has become one, that was stopped before it could say what it did. */
export function failureOutcome(
  runId: string | null,
  { command, error, startedAt, finishedAt }: Failure,
): RunOutcome & { readonly status: 'failed' } {
  const code = error instanceof LivehouseError ? error.code : 'internal'
  const problems = problemsOf(error)
  const messages = problems.length > 0 ? problems : [messageOf(error)]
  const state = sqlStateOf(error)
  const errors = messages.map((message): RunProblem => ({ stream: null, partition: null, code, message, ...state }))
  return { runId, command, status: 'failed', startedAt, finishedAt, resumesAt: null, streams: {}, errors }
}

/** What went wrong first, where undoing the work (`await using`) then failed too. */
export function causeBehind(error: unknown): unknown {
  let cause = error
  while (cause instanceof SuppressedError) cause = cause.suppressed
  return cause
}

function problemsOf(error: unknown): readonly string[] {
  const details = error instanceof LivehouseError ? error.details : {}
  return 'problems' in details ? details.problems : []
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

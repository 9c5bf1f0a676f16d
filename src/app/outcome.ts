import { LivehouseError } from '../core/errors.ts'
import { describeError, type RunOutcome, type RunProblem } from '../core/outcome.ts'
import { noCounts, noSlices, type Window } from '../core/slice.ts'
import { formatWallTime } from '../core/wall-clock.ts'

/** What stopped a command, and when. `command`: the verb, or what was typed in its place. */
export interface Failure extends Pick<RunOutcome, 'command' | 'startedAt' | 'finishedAt'> {
  readonly error: unknown
}

/** What `--json` prints, on one line, and the record of the run keeps. */
export function outcomeObject(outcome: RunOutcome): Readonly<Record<string, unknown>> {
  // In the order of the contract, whatever order they came in.
  const streams = Object.entries(outcome.streams).map(([name, { counts, slices }]) => {
    return [name, { ...noCounts, ...counts, slices: { ...noSlices, ...slices } }]
  })
  return {
    run_id: outcome.runId,
    command: outcome.command,
    status: outcome.status,
    started_at: outcome.startedAt,
    finished_at: outcome.finishedAt,
    resumes_at: outcome.resumesAt,
    streams: Object.fromEntries(streams),
    errors: outcome.errors.map(({ stream, partition, code, message }) => ({ stream, partition, code, message })),
  }
}

/** From when until when a reading or a difference is, as `--json` and the record of a run say it. */
export function boundsOf(window: Window | undefined) {
  return { from: window ? formatWallTime(window.from) : null, to: window ? formatWallTime(window.to) : null }
}

/** A run, or a command before it has become one, that was stopped before it could say what it did. */
export function failureOutcome(
  runId: string | null,
  { command, error, startedAt, finishedAt }: Failure,
): RunOutcome & { readonly status: 'failed' } {
  const errors = runProblemsOf(error)
  return { runId, command, status: 'failed', startedAt, finishedAt, resumesAt: null, streams: {}, errors }
}

/** What stopped a run, as its problems. */
export function runProblemsOf(error: unknown): readonly RunProblem[] {
  const problem = describeError(error)
  const problems = problemsOf(error)
  const messages = problems.length > 0 ? problems : [problem.message]
  return messages.map((message) => ({ stream: null, partition: null, ...problem, message }))
}

/** The first error, where undoing the work (`await using`) then failed too. */
export function causeBehind(error: unknown): unknown {
  let cause = error
  while (cause instanceof SuppressedError) cause = cause.suppressed
  return cause
}

/** The problems of wrong settings or wrong use, one by one; none of other errors. */
export function problemsOf(error: unknown): readonly string[] {
  const details = error instanceof LivehouseError ? error.details : {}
  return 'problems' in details ? details.problems : []
}

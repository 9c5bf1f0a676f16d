import { LivehouseError } from '../core/errors.ts'
import { describeError, type RunOutcome, type RunProblem } from '../core/outcome.ts'
import { noCounts, noSlices, type Window } from '../core/slice.ts'
import { formatWallTime } from '../core/wall-clock.ts'

/** What stopped a command, and when. `command`: the verb, or what was typed in its place. */
export interface Failure extends Pick<RunOutcome, 'command' | 'startedAt' | 'finishedAt'> {
  readonly error: unknown
}

/** The object that `--json` prints, and that the record of a run keeps. */
export function outcomeObject(outcome: RunOutcome): Readonly<Record<string, unknown>> {
  // `noCounts` and `noSlices` put the keys into their documented order.
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

/** The bounds of a window as text, for `--json` and the record of a run; null if there is no window. */
export function boundsOf(window: Window | undefined) {
  return { from: window ? formatWallTime(window.from) : null, to: window ? formatWallTime(window.to) : null }
}

/** The outcome of a run that an error stopped, or of a command that an error stopped before its run began. */
export function failureOutcome(
  runId: string | null,
  { command, error, startedAt, finishedAt }: Failure,
): RunOutcome & { readonly status: 'failed' } {
  const errors = runProblemsOf(error)
  return { runId, command, status: 'failed', startedAt, finishedAt, resumesAt: null, streams: {}, errors }
}

/** An error as problems of a run. */
export function runProblemsOf(error: unknown): readonly RunProblem[] {
  const problem = describeError(error)
  const problems = problemsOf(error)
  const messages = problems.length > 0 ? problems : [problem.message]
  return messages.map((message) => ({ stream: null, partition: null, ...problem, message }))
}

/** The original error, if disposing of resources (`await using`) failed after it. */
export function unwrapSuppressed(error: unknown): unknown {
  let cause = error
  while (cause instanceof SuppressedError) cause = cause.suppressed
  return cause
}

/** The list of problems with settings or usage that an error carries; empty for other errors. */
export function problemsOf(error: unknown): readonly string[] {
  const details = error instanceof LivehouseError ? error.details : {}
  return 'problems' in details ? details.problems : []
}

import type { Job } from '../core/define-job.ts'
import type { JobRun } from '../ledger/job-runs.ts'
import type { Tick, Timetable } from './timetable.ts'

/** What is known of a job's ticks. */
export interface JobHistory {
  /** From when on it is due by this schedule. */
  readonly sinceMs: number
  /** The last tick on record, as far as it does not lie ahead of now; undefined before the first. */
  readonly last: JobRun | undefined
}

/** What is to be done about a job now. `unfinished`: the tick before, whose run did not come to its end, is given up for this one. */
export type Decision =
  | { readonly kind: 'none' }
  | { readonly kind: 'begin'; readonly tick: Tick; readonly unfinished: JobRun | undefined }
  | { readonly kind: 'resume'; readonly run: JobRun }
  /** It was missed, and is not to be made up for. */
  | { readonly kind: 'miss'; readonly tick: Tick; readonly unfinished: JobRun | undefined }
  /** It was begun too often, or too long ago, without an end. */
  | { readonly kind: 'give up'; readonly run: JobRun; readonly reason: string }

/** Noticed later than this, a tick was missed. */
const MISSED_AFTER_MS = 60_000
/** A run that takes its process with it is not begun for ever. */
const MOST_ATTEMPTS = 5
/** How long it is left alone after an error has stopped it once, twice, …: what did is often not gone at once. */
const PAUSES_MS = [60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000]

/**
 * What a job asks for: of all the ticks that were missed the last one, once; the tick whose run was interrupted, or whose process
 * died; or nothing. It has to be asked again by who holds the job's lock: only then nobody else is at work on it.
 */
export function decide(job: Job, timetable: Timetable, { sinceMs, last }: JobHistory, nowMs: number): Decision {
  const tick = timetable.last(Math.max(sinceMs, last?.dueAt?.getTime() ?? sinceMs), nowMs)
  const unfinished = last?.status === 'running' || last?.status === 'interrupted' ? last : undefined
  const isTooLate = (dueAtMs: number) => job.catchUp === 'never' && nowMs - dueAtMs > MISSED_AFTER_MS
  if (tick !== undefined) return { kind: isTooLate(tick.dueAtMs) ? 'miss' : 'begin', tick, unfinished }
  if (unfinished === undefined) return { kind: 'none' }
  if (isTooLate(unfinished.dueAt?.getTime() ?? nowMs)) {
    return { kind: 'give up', run: unfinished, reason: 'it was interrupted, and is not to be made up for' }
  }
  if (unfinished.attempts >= MOST_ATTEMPTS) {
    return { kind: 'give up', run: unfinished, reason: `it was begun ${unfinished.attempts} times and never ended` }
  }
  return nowMs < restUntil(unfinished) ? { kind: 'none' } : { kind: 'resume', run: unfinished }
}

/** One that a signal ended, or whose process died, is gone on with at once. */
function restUntil({ attempts, startedAt, finishedAt, error }: JobRun): number {
  return error === null ? 0 : (finishedAt ?? startedAt).getTime() + (PAUSES_MS[attempts - 1] ?? 0)
}

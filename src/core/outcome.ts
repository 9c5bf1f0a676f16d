import { type ErrorCode, hasCode } from './errors.ts'
import type { Proof } from './slice.ts'
import type { StreamName } from './stream.ts'

/** Rows and calls of a slice, a stream or a run. */
export interface Counts {
  /** Items received, repeated pages not counted. */
  readonly extracted: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly removed: number
  readonly quarantined: number
  /** Rows that landed with an unreadable field. */
  readonly degraded: number
  readonly calls: number
  readonly retries: number
}

export const noCounts: Counts = {
  extracted: 0,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  removed: 0,
  quarantined: 0,
  degraded: 0,
  calls: 0,
  retries: 0,
}

export function addCounts(a: Counts, b: Partial<Counts>): Counts {
  return {
    extracted: a.extracted + (b.extracted ?? 0),
    inserted: a.inserted + (b.inserted ?? 0),
    updated: a.updated + (b.updated ?? 0),
    unchanged: a.unchanged + (b.unchanged ?? 0),
    removed: a.removed + (b.removed ?? 0),
    quarantined: a.quarantined + (b.quarantined ?? 0),
    degraded: a.degraded + (b.degraded ?? 0),
    calls: a.calls + (b.calls ?? 0),
    retries: a.retries + (b.retries ?? 0),
  }
}

export type RunStatus = 'ok' | 'partial' | 'waiting' | 'failed'

export interface RunProblem {
  readonly stream: StreamName | null
  readonly partition: string | null
  readonly code: ErrorCode | 'internal'
  readonly message: string
  /** Of `db.refused`: the reason, by PostgreSQL's table. */
  readonly sqlState?: string
}

export interface StreamOutcome {
  readonly counts: Counts
  readonly slices: Readonly<Record<Proof, number>>
}

export const noSlices: StreamOutcome['slices'] = {
  verified: 0,
  agreed: 0,
  unverifiable: 0,
  moving: 0,
  short: 0,
  accepted: 0,
  failed: 0,
}

/** What a run did; `--json` prints it in snake_case (contract, section 2). */
export interface RunOutcome {
  readonly runId: string | null
  readonly command: string
  readonly status: RunStatus
  /** ISO instants. */
  readonly startedAt: string
  readonly finishedAt: string
  readonly resumesAt: string | null
  readonly streams: Readonly<Record<StreamName, StreamOutcome>>
  readonly errors: readonly RunProblem[]
}

/** Why the database refused, for the record of a problem; nothing of other errors. */
export function sqlStateOf(error: unknown): Pick<RunProblem, 'sqlState'> {
  return hasCode(error, 'db.refused') ? { sqlState: error.details.sqlState } : {}
}

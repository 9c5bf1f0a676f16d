import { type ErrorCode, hasCode, LivehouseError, messageOf } from './errors.ts'
import type { Counts, Proof } from './slice.ts'

/** The command names of operators' actions. Their runs read none of the service's lists. */
export const operatorCommands = { retry: 'quarantine retry', forget: 'ledger forget', cancel: 'run cancel' } as const

export type RunStatus = 'ok' | 'partial' | 'waiting' | 'failed'

export interface RunProblem {
  readonly stream: string | null
  readonly partition: string | null
  readonly code: ErrorCode | 'internal'
  readonly message: string
  /** For `db.refused`: the SQLSTATE of PostgreSQL. */
  readonly sqlState?: string
}

export interface StreamOutcome {
  readonly counts: Counts
  readonly slices: Readonly<Record<Proof, number>>
}

/** The result of a run; `--json` prints it in snake_case. */
export interface RunOutcome {
  readonly runId: string | null
  readonly command: string
  readonly status: RunStatus
  /** ISO instants. */
  readonly startedAt: string
  readonly finishedAt: string
  /** When the remaining work can continue; null if nothing has to wait. */
  readonly resumesAt: string | null
  readonly streams: Readonly<Record<string, StreamOutcome>>
  readonly errors: readonly RunProblem[]
}

/** Describes an error for the record of a run. */
export function describeError(error: unknown): Omit<RunProblem, 'stream' | 'partition'> {
  const code = error instanceof LivehouseError ? error.code : 'internal'
  const reason = hasCode(error, 'db.refused') ? { sqlState: error.details.sqlState } : {}
  return { code, message: messageOf(error), ...reason }
}

/** Progress of a run. `slice` is the slice's partition, with its window if it has one. */
export type ProgressEvent =
  /** Comes first: the number of slices planned for a stream. */
  | { readonly kind: 'stream.planned'; readonly stream: string; readonly slices: number }
  | { readonly kind: 'slice.started' | 'slice.ended'; readonly stream: string; readonly slice: string }
  /** One page has been read. */
  | {
      readonly kind: 'page'
      readonly stream: string
      readonly slice: string
      /** Items of this page. */
      readonly rows: number
      /** Pages of the whole slice, by the source's total; undefined without one. */
      readonly totalPages: number | undefined
    }
  /** A large slice was cut and is read in parts. */
  | { readonly kind: 'slice.cut'; readonly stream: string; readonly slice: string; readonly parts: number }

/** Never throws and never waits. */
export type ReportProgress = (event: ProgressEvent) => void

import { type ErrorCode, hasCode, LivehouseError, messageOf } from './errors.ts'
import type { Counts, Proof } from './slice.ts'

/** The runs of operators' actions: they read nothing of the service's lists. */
export const operatorCommands = { retry: 'quarantine retry', forget: 'ledger forget', cancel: 'run cancel' } as const

export type RunStatus = 'ok' | 'partial' | 'waiting' | 'failed'

export interface RunProblem {
  readonly stream: string | null
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

/** What a run did; `--json` prints it in snake_case. */
export interface RunOutcome {
  readonly runId: string | null
  readonly command: string
  readonly status: RunStatus
  /** ISO instants. */
  readonly startedAt: string
  readonly finishedAt: string
  /** When what waits can go on; null where nothing waits for a time. */
  readonly resumesAt: string | null
  readonly streams: Readonly<Record<string, StreamOutcome>>
  readonly errors: readonly RunProblem[]
}

/** What went wrong, for the record. */
export function describeError(error: unknown): Omit<RunProblem, 'stream' | 'partition'> {
  const code = error instanceof LivehouseError ? error.code : 'internal'
  const reason = hasCode(error, 'db.refused') ? { sqlState: error.details.sqlState } : {}
  return { code, message: messageOf(error), ...reason }
}

/** What a run reports while it is under way. `slice`: its partition, and its window if it has one. */
export type ProgressEvent =
  /** Comes first: how many slices the plan has for a stream. */
  | { readonly kind: 'stream.planned'; readonly stream: string; readonly slices: number }
  | { readonly kind: 'slice.started'; readonly stream: string; readonly slice: string }
  /** One page has been read. */
  | {
      readonly kind: 'page'
      readonly stream: string
      readonly slice: string
      /** Items of this page. */
      readonly rows: number
      /** Pages of the whole slice, as far as the source's total says. */
      readonly totalPages: number | undefined
    }
  /** A slice turned out to be large and goes on in parts. */
  | { readonly kind: 'slice.cut'; readonly stream: string; readonly slice: string; readonly parts: number }
  | { readonly kind: 'slice.ended'; readonly stream: string; readonly slice: string; readonly proof: Proof }

/** Never throws and never waits. */
export type ReportProgress = (event: ProgressEvent) => void

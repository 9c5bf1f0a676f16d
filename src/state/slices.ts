import type { Kysely } from 'kysely'
import { isGreen, partitionKey, type Partition, type Proof, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'

/** What the ledger keeps of one extraction. */
export interface SliceRecord {
  readonly runId: string
  readonly stream: StreamName
  readonly partition: Partition
  /** What it proves to be covered; undefined for a snapshot walk. */
  readonly covers: Window | undefined
  readonly proof: Proof
  readonly totals:
    | { readonly first: number; readonly last: number; readonly smallest: number; readonly largest: number }
    | undefined
  readonly distinctRows: number
  readonly quarantinedRows: number
  readonly calls: number
  readonly retries: number
  /** Whether it found surprisingly few rows. */
  readonly isDrop: boolean
  /** Why it is not proven; undefined where it is. */
  readonly error: string | undefined
  readonly startedAt: Date
  readonly finishedAt: Date
}

/** Writes a slice into the ledger; in the transaction of its last rows, so that coverage never runs ahead of rows. */
export async function recordSlice(db: Kysely<Database>, slice: SliceRecord): Promise<void> {
  await db
    .insertInto('livehouse_ops.slices')
    .values({
      run_id: slice.runId,
      stream: slice.stream,
      partition: partitionKey(slice.partition),
      covers: slice.covers ? formatRange(slice.covers) : null,
      status: isGreen(slice.proof) ? 'landed' : 'failed',
      proof: slice.proof,
      first_total: slice.totals?.first ?? null,
      last_total: slice.totals?.last ?? null,
      smallest_total: slice.totals?.smallest ?? null,
      largest_total: slice.totals?.largest ?? null,
      distinct_rows: slice.distinctRows,
      quarantined_rows: slice.quarantinedRows,
      calls: slice.calls,
      retries: slice.retries,
      is_drop: slice.isDrop,
      error: slice.error ?? null,
      started_at: slice.startedAt,
      finished_at: slice.finishedAt,
    })
    .execute()
}

/** A window as `tsrange` text. */
function formatRange({ from, to }: Window): string {
  return `[${formatWallTime(from)},${formatWallTime(to)})`
}

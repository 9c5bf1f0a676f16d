import { type Kysely, sql } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { openProblems } from './latest-readings.ts'
import { readBounds } from './wall-range.ts'

/** A reading that fell short, and that no later one has made good or found anew. */
export interface OpenShortfall {
  readonly sliceId: string
  readonly partition: string
  /** What it read; undefined for a walk over the whole list. */
  readonly window: Window | undefined
  /** Undefined where the ledger does not say: it was read before this was kept. */
  readonly missingRows: number | undefined
  readonly reason: string | null
}

/** The open shortfalls of a channel in all its partitions, or of the account (null), the newest first. */
export async function readShortfalls(
  db: Kysely<Database>,
  stream: StreamName,
  channelId: string | null,
): Promise<readonly OpenShortfall[]> {
  const { rows } = await sql<ShortfallRow>`
    select slice_id, partition, lower(reads)::text as lower, upper(reads)::text as upper, error,
      coalesce(missing_rows, case when not is_drop then largest_total - distinct_rows - quarantined_rows end) as missing
    from ${openProblems} as bad
    where stream = ${stream} and channel_id is not distinct from ${channelId} and proof = 'short' and not exists (
      select from livehouse_ops.slices as later where later.stream = bad.stream and later.partition = bad.partition
        and later.slice_id > bad.slice_id and later.proof in ('short', 'accepted')
        and (bad.reads is null or later.reads && bad.reads))
    order by slice_id desc`.execute(db)
  return rows.map(({ slice_id, partition, lower, upper, missing, error }) => ({
    sliceId: slice_id,
    partition,
    window: readBounds(lower, upper),
    missingRows: missing === null ? undefined : Number(missing),
    reason: error,
  }))
}

interface ShortfallRow {
  readonly slice_id: string
  readonly partition: string
  readonly lower: string | null
  readonly upper: string | null
  readonly missing: string | null
  readonly error: string | null
}

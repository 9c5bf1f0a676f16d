import { type Kysely, sql } from 'kysely'
import { type Partition, partitionKey, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { formatRange } from './wall-range.ts'

/** A reading of a walk or window, and what was there before. */
export interface DropQuestion {
  readonly stream: StreamName
  readonly partition: Partition
  readonly window: Window | undefined
  /** Rows that were there: of the walk before it, or of the window in the warehouse. */
  readonly held: number
  readonly found: number
  readonly now: Date
}

/** Fewer rows than this say nothing about a share. */
const SMALLEST_HELD = 20
const SMALLEST_SHARE = 0.9
/** How long after a first surprise a second one counts as agreement. */
const AGREEMENT_MS = 3_600_000

/** `agreed`: an earlier reading has found as little. */
export type DropAnswer = 'none' | 'surprise' | 'agreed'

/**
 * Whether a reading found over a tenth fewer rows than were there: a source that answers an empty list, say. Believed only
 * when another at least an hour earlier found the same, with no fuller one since.
 */
export async function judgeDrop(db: Kysely<Database>, question: DropQuestion): Promise<DropAnswer> {
  const { stream, partition, window, held, found, now } = question
  if (held <= SMALLEST_HELD || found >= held * SMALLEST_SHARE) return 'none'
  const range = window && sql`${formatRange(window)}::tsrange`
  const { rows } = await sql<{ distinct_rows: string; is_believed: boolean; is_within: boolean }>`
    with readings as (
      select coalesce(piece_of, slice_id) as slice_id, is_drop, distinct_rows, finished_at, status = 'landed' as is_believed,
        ${range ? sql`reads <@ ${range}` : sql`true`} as is_within
      from livehouse_ops.slices
      where stream = ${stream} and partition = ${partitionKey(partition)} and (is_drop or status = 'landed')
        and ${range ? sql`reads && ${range}` : sql`reads is null`}
    )
    select distinct_rows, is_believed, is_within from readings
    where is_drop and finished_at <= ${new Date(now.getTime() - AGREEMENT_MS)}
      and slice_id > coalesce((select max(slice_id) from readings where not is_drop), 0)`.execute(db)
  const isAgreed = rows.some(({ distinct_rows, is_believed, is_within }) => {
    const then = Number(distinct_rows)
    if (window === undefined) return isAlike(then, found)
    // A window grows with time: it must hold what the earlier reading found of it, and may hold more.
    return is_believed || (is_within && found >= then * SMALLEST_SHARE)
  })
  return isAgreed ? 'agreed' : 'surprise'
}

function isAlike(a: number, b: number): boolean {
  return Math.min(a, b) >= Math.max(a, b) * SMALLEST_SHARE
}

import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** Items in quarantine that could not be read for the same kind of reason. */
export interface QuarantineReason {
  readonly stream: string
  /** In English, with … in place of every value that the service sent. */
  readonly reason: string
  readonly items: number
  readonly lastSeenAt: Date
}

/** What is in quarantine by stream and kind of reason, without a value of anybody. */
export interface QuarantineReasons {
  /** The largest first. */
  readonly reasons: readonly QuarantineReason[]
  /** Whether there are more items than were looked at. */
  readonly isMore: boolean
}

const MOST_ITEMS = 100_000
const MOST_REASONS = 40
/** JSON text, also where it was cut before its end. */
const QUOTED = String.raw`"([^"\\]|\\.)*("|$)`
const LONG_NUMBER = String.raw`\d{5,}`

/** Items that are still unreadable. */
export async function readQuarantineReasons(db: Kysely<Database>): Promise<QuarantineReasons> {
  const { rows } = await sql<{ stream: string; reason: string; items: string; seen: Date; looked: string }>`
    with looked as (
      select stream, reason, last_seen_at from livehouse_ops.quarantine where resolved_at is null limit ${MOST_ITEMS + 1}
    ), masked as (
      select stream, last_seen_at,
        regexp_replace(regexp_replace(reason, ${QUOTED}, '…', 'g'), ${LONG_NUMBER}, '…', 'g') as reason
      from looked
    )
    select stream, left(reason, 300) as reason, count(*) as items, max(last_seen_at) as seen,
      sum(count(*)) over () as looked
    from masked group by stream, left(reason, 300) order by items desc, stream, reason limit ${MOST_REASONS}`.execute(
    db,
  )
  return {
    reasons: rows.map(({ stream, reason, items, seen }) => ({
      stream,
      reason,
      items: Number(items),
      lastSeenAt: seen,
    })),
    isMore: Number(rows[0]?.looked ?? 0) > MOST_ITEMS,
  }
}

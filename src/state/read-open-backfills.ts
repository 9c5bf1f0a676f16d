import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** A backfill that the same command resumes. */
export interface UnfinishedBackfill {
  readonly startedAt: Date
  /** Wall-clock text; `to` exclusive. */
  readonly from: string
  readonly to: string
  readonly streams: readonly string[]
  readonly channels: readonly string[]
  readonly onlyGaps: boolean
}

/** The oldest first. */
export async function readOpenBackfills(db: Kysely<Database>): Promise<readonly UnfinishedBackfill[]> {
  const { rows } = await sql<UnfinishedBackfill>`
    select started_at as "startedAt", arguments->>'from' as "from", arguments->>'to' as "to",
      array(select jsonb_array_elements_text(arguments->'streams')) as streams,
      array(select jsonb_array_elements_text(arguments->'channels')) as channels,
      (arguments->>'onlyGaps')::boolean as "onlyGaps"
    from livehouse_ops.backfills where status = 'open' order by backfill_id`.execute(db)
  return rows
}

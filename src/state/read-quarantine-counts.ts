import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** What one stream has in quarantine and not made good since. */
export interface QuarantineCount {
  readonly stream: string
  readonly rows: number
  readonly mostCommonReason: string
}

/** By stream, those with most rows first. */
export async function readQuarantineCounts(db: Kysely<Database>): Promise<readonly QuarantineCount[]> {
  const { rows } = await sql<{ stream: string; count: string; reason: string }>`
    select stream, count(*), mode() within group (order by reason) as reason
    from livehouse_ops.quarantine where resolved_at is null
    group by stream order by count(*) desc, stream`.execute(db)
  return rows.map(({ stream, count, reason }) => ({ stream, rows: Number(count), mostCommonReason: reason }))
}

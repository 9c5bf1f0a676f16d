import type { Kysely } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** An item of one partition that could not become a row and has not been resolved. */
export interface UnresolvedItem {
  readonly hash: string
  /** JSON text. */
  readonly raw: string
  readonly lastSeenAt: Date
}

/** All of one partition. */
export async function readQuarantined(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
): Promise<readonly UnresolvedItem[]> {
  const rows = await db
    .selectFrom('livehouse_ops.quarantine')
    .select(['item_hash', 'raw', 'last_seen_at'])
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .where('resolved_at', 'is', null)
    .execute()
  return rows.map(({ item_hash, raw, last_seen_at }) => ({ hash: item_hash, raw, lastSeenAt: last_seen_at }))
}

import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** How many channels the managers have together, by the latest day of their usage; undefined before any has landed. */
export async function readManagedChannels(db: Kysely<Database>): Promise<number | undefined> {
  const { rows } = await sql<{ channels: string | null }>`
    select sum(channel_count) as channels from livehouse.manager_usage
    where snapshot_date = (select max(snapshot_date) from livehouse.manager_usage)`.execute(db)
  const channels = rows[0]?.channels ?? null
  return channels === null ? undefined : Number(channels)
}

import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** Ids of rows that belong to channels. */
export interface HeldIds {
  readonly channels: number
  readonly ids: number
  /** Ids of more than one channel. */
  readonly recurring: number
}

/** Counts the different ids of watch records and of viewers, and those of more than one channel. Reads both tables whole. */
export async function readHeldIds(
  db: Kysely<Database>,
): Promise<{ readonly records: HeldIds; readonly users: HeldIds }> {
  const countIds = async (table: string, id: string): Promise<HeldIds> => {
    const { rows } = await sql<HeldIds>`
      select (select count(distinct channel_id)::integer from ${sql.table(table)}) as channels,
        count(*)::float8 as ids, (count(*) filter (where channels > 1))::float8 as recurring
      from (select count(*) as channels from ${sql.table(table)} group by ${sql.ref(id)}) as each`.execute(db)
    return rows[0] ?? { channels: 0, ids: 0, recurring: 0 }
  }
  return {
    records: await countIds('livehouse.watch_records', 'record_id'),
    users: await countIds('livehouse.visitors', 'user_id'),
  }
}

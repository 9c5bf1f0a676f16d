import type { Kysely } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** How many rows of a partition its last proven reading missed: the next one decides whether they are gone. */
export async function readMissedRows(db: Kysely<Database>, stream: StreamName, partition: string): Promise<number> {
  const { count } = await db
    .selectFrom('livehouse_ops.missed_rows')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .executeTakeFirstOrThrow()
  return Number(count)
}

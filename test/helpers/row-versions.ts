import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import { streams } from '../../src/streams/registry.ts'

/** One row as stored. */
export interface RowVersion {
  readonly table: string
  readonly key: string
  /** Every column but those that say when and by which run the row was written. */
  readonly content: unknown
  readonly run_id: string
  readonly changed_at: string
  readonly inserted_at: string
  /** Changes whenever the row is written, even with equal content. */
  readonly version: string
}

/** Reads every row of the tables that streams fill, of their child tables and of the channels. */
export async function readRowVersions(db: Kysely<Database>): Promise<readonly RowVersion[]> {
  const filled = streams.flatMap(({ table, children }) => [table, ...(children ? [children.table] : [])])
  const tables = await Promise.all(['channels', ...filled].map((table) => readVersions(db, table)))
  return tables.flat()
}

async function readVersions(db: Kysely<Database>, table: string): Promise<readonly RowVersion[]> {
  const { rows } = await sql<RowVersion>`
    select ${table}::text as table, concat_ws('/', ${sql.join(keyOf(table).map((name) => sql.ref(name)))}) as key,
      to_jsonb(t) - '{run_id,changed_at,inserted_at}'::text[] as content,
      run_id, changed_at::text, inserted_at::text, concat_ws(' ', ctid, xmin) as version
    from ${sql.table(`livehouse.${table}`)} as t order by key`.execute(db)
  return rows
}

function keyOf(table: string): readonly string[] {
  const loaded = streams.flatMap((stream) => [stream, ...(stream.children ? [stream.children] : [])])
  return loaded.find((one) => one.table === table)?.key ?? ['channel_id']
}

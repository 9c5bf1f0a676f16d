import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

/** Values as `pool.ts` reads them, of queries without times and JSON. */
export type QueryRow = Readonly<Record<string, string | number | boolean | null>>

/** Runs a fixed query as it is written and gives its rows, each with the columns in their order. */
export async function runQuery(db: Kysely<Database>, text: string): Promise<readonly QueryRow[]> {
  // The text is the query.
  const { rows } = await sql.raw<QueryRow>(text).execute(db)
  return rows
}

/** How many rows a table of schema `livehouse` has. */
export async function countRows(db: Kysely<Database>, table: string): Promise<number> {
  const rows = db.selectFrom(sql.table(`livehouse.${table}`).as('t'))
  return Number((await rows.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count)
}

/** Settings of this transaction alone, by name: with them a pooler in transaction mode may stand in between. */
export async function setLocal(trx: Kysely<Database>, settings: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(settings)
  await trx
    .selectNoFrom((eb) =>
      entries.map(([name, value]) => eb.fn<string>('set_config', [eb.val(name), eb.val(value), eb.lit(true)]).as(name)),
    )
    .execute()
}

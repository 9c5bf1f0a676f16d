import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import { isOfPart, type TablePart, tableOf } from './table-part.ts'

/** Which of these fields have a value in so many rows of this part: rows that come again would lose it. */
export async function findHeldFields(
  db: Kysely<Database>,
  part: TablePart,
  fields: readonly string[],
  fewest: number,
): Promise<readonly string[]> {
  const held: string[] = []
  for (const [name, { source }] of Object.entries(part.stream.columns)) {
    if (source.kind !== 'field' || !fields.includes(source.field)) continue
    const holders = sql`select from ${tableOf(part)} t where ${isOfPart(part)} and t.${sql.ref(name)} is not null`
    const { rows } = await sql<{ isHeld: boolean }>`
      select count(*) = ${fewest} as "isHeld" from (${holders} limit ${fewest}) held`.execute(db)
    if (rows[0]?.isHeld === true) held.push(source.field)
  }
  return held
}

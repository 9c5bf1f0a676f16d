import { type Kysely, sql } from 'kysely'
import type { Database } from '../database.ts'
import { isOfPart, type TablePart, tableOf } from './table-part.ts'

/** Which of these fields have a value in any row of this part: rows that come again would lose it. */
export async function findHeldFields(
  db: Kysely<Database>,
  part: TablePart,
  fields: readonly string[],
): Promise<readonly string[]> {
  const held: string[] = []
  for (const [name, { source }] of Object.entries(part.stream.columns)) {
    if (source.kind !== 'field' || !fields.includes(source.field)) continue
    const { rows } = await sql<{ isHeld: boolean }>`select exists (
      select from ${tableOf(part)} t where ${isOfPart(part)} and t.${sql.ref(name)} is not null) as "isHeld"`.execute(
      db,
    )
    if (rows[0]?.isHeld === true) held.push(source.field)
  }
  return held
}

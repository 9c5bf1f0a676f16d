import { sql, type Transaction } from 'kysely'
import type { Row } from '../../core/column.ts'
import type { ChildTable } from '../../core/stream.ts'
import type { Database } from '../database.ts'
import { loadRows } from './load.ts'

/** Rows a statement; all rows of one parent go together, so there may be more. */
const BATCH = 1000

/** Writes children of these parents that are new or differ, and deletes those beyond the last. */
export async function replaceChildren(
  trx: Transaction<Database>,
  children: ChildTable,
  parents: readonly Row[],
  runId: string,
): Promise<void> {
  const counts: number[] = []
  let rows: Row[] = []
  const write = async (): Promise<void> => {
    await loadRows(trx, children, rows, runId)
    rows = []
  }
  // Not all at once: the children of a batch of parents may be some hundred thousand rows.
  for (const parent of parents) {
    const childRows = children.rowsOf(parent)
    counts.push(childRows.length)
    rows.push(...childRows)
    if (rows.length >= BATCH) await write()
  }
  await write()
  const parentKey = children.key.filter((name) => name !== children.numberColumn)
  const arrays = parentKey.map((name) => sql`${parents.map((parent) => parent[name] ?? null)}::text[]`)
  const names = sql.join([...parentKey, 'last_number'].map((name) => sql.ref(name)))
  await sql`
    delete from ${sql.table(`livehouse.${children.table}`)} as child
    using unnest(${sql.join([...arrays, sql`${counts}::integer[]`])}) as parent (${names})
    where ${sql.join(
      parentKey.map((name) => sql`child.${sql.ref(name)} = parent.${sql.ref(name)}`),
      sql` and `,
    )} and child.${sql.ref(children.numberColumn)} > parent.last_number`.execute(trx)
}

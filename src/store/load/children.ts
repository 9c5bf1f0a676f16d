import { sql, type Transaction } from 'kysely'
import type { Row } from '../../core/column.ts'
import type { ChildTable } from '../../core/stream.ts'
import type { Database } from '../database.ts'
import { createBatch } from './load.ts'

/** Writes the new and changed children of these parents, and deletes those beyond each parent's last one. */
export async function replaceChildren(
  trx: Transaction<Database>,
  children: ChildTable,
  parents: readonly Row[],
  runId: string,
): Promise<void> {
  const batch = createBatch(children, runId)
  const counts = parents.map((parent) => {
    const rows = children.rowsOf(parent)
    for (const row of rows) batch.add(row)
    return rows.length
  })
  await batch.upsert(trx)
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

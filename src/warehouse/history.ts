import { sql, type Transaction } from 'kysely'
import { partitionKey } from '../core/slice.ts'
import type { Database } from '../db/database.ts'
import { findAbsent, isOfPart, keyColumnOf, type TablePart, tableOf } from './table-part.ts'

/**
 * After a proven reading: rows of this part that it did not find are noted as missed; those that the proven reading before it
 * missed too are marked removed. What was found is no longer missed. In the transaction of the reading's last rows.
 * @returns how many rows were marked
 */
export async function markRemoved(
  trx: Transaction<Database>,
  part: TablePart,
  found: { readonly count: number; readonly has: (key: string) => boolean },
  runId: string,
  at: Date,
): Promise<number> {
  const key = keyColumnOf(part)
  const place = sql`stream = ${part.stream.name} and partition = ${partitionKey(part.partition)}`
  const looked = await sql<{ held: string; is_any_missed: boolean }>`
    select (select count(*) from ${tableOf(part)} as t where ${isOfPart(part)}) as held,
      exists (select from livehouse_ops.missed_rows where ${place}) as is_any_missed`.execute(trx)
  const isWhole = Number(looked.rows[0]?.held) === found.count
  if (isWhole && looked.rows[0]?.is_any_missed === false) return 0
  const missing = isWhole ? [] : await findAbsent(trx, part, found.has)
  await sql`
    delete from livehouse_ops.missed_rows where ${place} and not row_key = any(${missing}::text[])
      and row_key in (select t.${key} from ${tableOf(part)} as t where ${isOfPart(part)})`.execute(trx)
  if (missing.length === 0) return 0
  const { rows } = await sql<{ row_key: string }>`
    delete from livehouse_ops.missed_rows where ${place} and row_key = any(${missing}::text[])
    returning row_key`.execute(trx)
  const twice = rows.map(({ row_key }) => row_key)
  await sql`
    update ${tableOf(part)} as t set removed_at = ${at}, run_id = ${runId}::bigint, changed_at = now()
    where ${isOfPart(part)} and t.${key} = any(${twice}::text[])`.execute(trx)
  const once = missing.filter((row) => !twice.includes(row))
  await sql`
    insert into livehouse_ops.missed_rows (stream, partition, row_key, missed_at, run_id)
    select ${part.stream.name}, ${partitionKey(part.partition)}, row_key, ${at}, ${runId}::bigint
    from unnest(${once}::text[]) as row_key`.execute(trx)
  return twice.length
}

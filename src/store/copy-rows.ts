import { CompiledQuery, sql, type Transaction } from 'kysely'
import type { Row } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import type { Database } from './database.ts'
import { cellsText } from './cells-text.ts'
import { inputColumns, refs } from './input-rows.ts'
import { isDeadlock, type LoadCounts, loadRows } from './load.ts'

/**
 * Writes rows that are believed to be new by COPY, which takes the server half the time of an upsert; where one of their keys is
 * there after all, upserts all of them. In the caller's transaction, after `prepareToLoad`. The rows' keys must be distinct.
 */
export async function copyRows(
  trx: Transaction<Database>,
  into: LoadTable,
  rows: readonly Row[],
  runId: string,
): Promise<LoadCounts> {
  const names = inputColumns(into).map(({ name }) => name)
  const columns = sql`${sql.table(`livehouse.${into.table}`)} (run_id, ${refs(names)})`
  const { sql: text } =
    sql`copy ${columns} from stdin with (format csv, null 'null', quote '"', escape e'\\\\')`.compile(trx)
  const lines = rows.map((row) => `${runId},${cellsText(names.map((name) => row[name] ?? null))}\n`)
  await sql`savepoint before_copy`.execute(trx)
  try {
    await trx.executeQuery(CompiledQuery.raw(text, [Buffer.from(lines.join(''))]))
  } catch (error) {
    if (!isTaken(error)) throw error
    await sql`rollback to savepoint before_copy`.execute(trx)
    return await loadRows(trx, into, rows, runId)
  }
  await sql`release savepoint before_copy`.execute(trx)
  return { inserted: rows.length, updated: 0, unchanged: 0 }
}

/** A row of one of the keys is there (SQLSTATE 23505), or another session adds it and waits for this one. */
function isTaken(error: unknown): boolean {
  return isDeadlock(error) || (error instanceof Error && 'code' in error && error.code === '23505')
}

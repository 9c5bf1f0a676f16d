import { CompiledQuery, sql, type Transaction } from 'kysely'
import type { LoadTable } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { refs } from './input-rows.ts'
import { isDeadlock } from './is-deadlock.ts'
import { type LoadCounts, loadRows } from './load.ts'
import type { RowLines } from './row-lines.ts'

/**
 * Writes rows that are believed to be new by COPY, which takes the server half the time of an upsert; where one of their keys is
 * there after all, upserts all of them. In the caller's transaction, after `prepareToLoad`. The rows' keys must be distinct.
 */
export async function copyRows(
  trx: Transaction<Database>,
  into: LoadTable,
  lines: RowLines,
  runId: string,
): Promise<LoadCounts> {
  const others = lines.others()
  const copied = lines.size() - others.length
  if (copied > 0 && !(await copyLines(trx, into, lines))) return await loadRows(trx, into, lines.rows(), runId)
  const loaded = await loadRows(trx, into, others, runId)
  return { ...loaded, inserted: loaded.inserted + copied }
}

/** @returns false where nothing was written, since a key is taken */
async function copyLines(trx: Transaction<Database>, { table }: LoadTable, lines: RowLines): Promise<boolean> {
  const into = sql`${sql.table(`livehouse.${table}`)} (${refs(lines.columns)})`
  const { sql: text } = sql`copy ${into} from stdin with (format csv, null 'null', quote '"', escape e'\\\\')`.compile(
    trx,
  )
  await sql`savepoint before_copy`.execute(trx)
  try {
    await trx.executeQuery(CompiledQuery.raw(text, [lines.csv()]))
  } catch (error) {
    if (!isTaken(error)) throw error
    await sql`rollback to savepoint before_copy`.execute(trx)
    return false
  }
  await sql`release savepoint before_copy`.execute(trx)
  return true
}

/** A row of one of the keys is there (SQLSTATE 23505), or another session adds it and waits for this one. */
function isTaken(error: unknown): boolean {
  return isDeadlock(error) || (error instanceof Error && 'code' in error && error.code === '23505')
}

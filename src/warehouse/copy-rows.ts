import { CompiledQuery, sql, type Transaction } from 'kysely'
import type { LoadTable } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { refs } from './input-rows.ts'
import { type LoadCounts, loadRows } from './load.ts'
import type { RowLines } from './row-lines.ts'

/** SQLSTATEs (PostgreSQL, appendix A) of a COPY that met a row of one of its keys: it is there, or another session adds it. */
const TAKEN: ReadonlySet<unknown> = new Set(['23505', '40P01'])

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
  const { sql: text } = sql`copy ${into} from stdin with (format csv, null 'null', quote '"', escape '\\')`.compile(trx)
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

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && TAKEN.has(error.code)
}

import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { LivehouseError } from '../core/errors.ts'
import { openSession, type Session } from './copy-session.ts'
import { migrationTables } from './migration-lock.ts'

/** Two databases that have had the same migrations. */
export interface CopyRequest {
  readonly from: string
  readonly to: string
  /** What names `to` in its errors, such as a flag. */
  readonly toSetting: string
  readonly signal: AbortSignal
  /** Hears of each table that has been copied. */
  readonly onTable: (copied: CopiedTable) => void
}

export interface CopiedTable {
  readonly name: string
  readonly rows: number
}

/** A table with what a copy of it needs; names are quoted as SQL wants them. */
export interface CopyTable {
  /** `livehouse.visitors` */
  readonly name: string
  /** Those that hold values of their own, in their order. */
  readonly columns: readonly string[]
}

/** The schemas are livehouse's own; what others have made there is not known to the migrations and not copied. */
export const COPIED_SCHEMAS = ['livehouse', 'livehouse_ops', 'livehouse_bi'] as const

/**
 * Copies everything that livehouse keeps, the ledger included: read from one snapshot, written in one transaction, and
 * each table held against its original before that ends. All or nothing.
 * @throws db.copyRefused where the target holds rows already or came out different; db.refused,
 * db.unreachable
 */
export async function copyDatabase(request: CopyRequest): Promise<readonly CopiedTable[]> {
  const { from, to, toSetting, signal, onTable } = request
  await using source = await openSession(from, 'DATABASE_URL', signal)
  await using target = await openSession(to, toSetting, signal)
  await source.query('begin isolation level repeatable read, read only')
  await target.query('begin')
  // The list is the target's, which holds what the migrations made and nothing else.
  const tables = await readTables(target)
  const names = tables.map(({ name }) => name)
  await target.query(`lock table ${names.join(', ')} in access exclusive mode`)
  await requireUnused(target, tables)
  // What the migrations put there themselves comes again, with the source's own values.
  await target.query(`truncate ${names.join(', ')}`)
  const copied: CopiedTable[] = []
  for (const table of tables) {
    const done = { name: table.name, rows: await copyTable(source, target, table, signal) }
    copied.push(done)
    onTable(done)
  }
  for (const { name, value } of await readSequences(source))
    await target.query('select setval($1::regclass, $2)', [name, value])
  await target.query('commit')
  for (const name of names) await target.query(`analyze ${name}`)
  return copied
}

/** Rows of `livehouse` and runs are what a database in use has; settings that the migrations made do not count. */
async function requireUnused(target: Session, tables: readonly CopyTable[]): Promise<void> {
  const telling = tables.filter(({ name }) => name.startsWith('livehouse.') || name === 'livehouse_ops.runs')
  for (const { name } of telling) {
    const [row] = await target.query<{ isUsed: boolean }>(`select exists (select from ${name}) as "isUsed"`)
    if (row?.isUsed !== true) continue
    const reason = `${name} has rows already`
    const message = `The database to copy to is in use: ${reason}. Name an empty one; nothing was changed in this one.`
    throw new LivehouseError('db.copyRefused', message, { reason })
  }
}

/** The sequences of livehouse that have been used, with their last values; names are quoted as SQL wants them. */
export async function readSequences(session: Session) {
  return await session.query<{ name: string; value: string }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value as value from pg_sequences
     where schemaname = any($1) and last_value is not null`,
    [COPIED_SCHEMAS],
  )
}

/**
 * Copies the rows of a table into its empty twin, and holds the twin against it by count and content.
 * @returns how many rows
 * @throws db.copyRefused where the twin differs; db.refused, db.unreachable
 */
async function copyTable(
  source: Session,
  target: Session,
  { name, columns }: CopyTable,
  signal: AbortSignal,
): Promise<number> {
  const list = columns.join(', ')
  const reading = source.client.query(copyTo(`copy (select ${list} from ${name}) to stdout`))
  const writing = target.client.query(copyFrom(`copy ${name} (${list}) from stdin`))
  const failures: unknown[] = []
  reading.once('error', (error) => failures.push(source.translate(error)))
  writing.once('error', (error) => failures.push(target.translate(error)))
  try {
    await pipeline(reading, writing, { signal })
  } catch (error) {
    // The side that failed first is the cause; the other only hears that its neighbour has gone.
    throw failures[0] ?? error
  }
  const [read, written] = await Promise.all([source, target].map((side) => fingerprintOf(side, name, list)))
  if (read?.rows === written?.rows && read?.sum === written?.sum) return Number(written?.rows)
  const otherwise = read?.rows === written?.rows ? ' with other contents' : ''
  const reason = `${name} has ${read?.rows} rows, its copy ${written?.rows}${otherwise}`
  throw new LivehouseError('db.copyRefused', `The copy was taken back: ${reason}. Run it again.`, { reason })
}

/** What tells tables of other rows apart: how many there are, and a sum over a hash of each. */
async function fingerprintOf(session: Session, name: string, list: string) {
  // md5 because its value is the same on every machine and version.
  const [found] = await session.query<{ rows: string; sum: string }>(
    `select count(*) as rows, coalesce(sum(('x' || left(md5(row(${list})::text), 15))::bit(60)::bigint), 0) as sum from ${name}`,
  )
  return found
}

/**
 * The tables that the migrations have made, in the order in which they were made: each after those that it refers to.
 * First come those that the database reads or writes when slices arrive: the service's zone, and how partitions stand.
 */
export async function readTables(session: Session): Promise<readonly CopyTable[]> {
  return await session.query<CopyTable & Record<string, unknown>>(
    `select format('%I.%I', n.nspname, c.relname) as name,
       (select array_agg(format('%I', a.attname) order by a.attnum) from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) and c.relkind = 'r' and c.relname <> all($2)
     order by c.relname not in ('source', 'partition_states'), c.oid`,
    [COPIED_SCHEMAS, migrationTables],
  )
}

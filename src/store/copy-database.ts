import { LivehouseError } from '../core/errors.ts'
import { copyTable } from './copy/copy-table.ts'
import { COPIED_SCHEMAS, type CopyTable, readTables } from './copy/read-tables.ts'
import { openSession, type Session } from './copy/session.ts'

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

/**
 * Copies everything that livehouse keeps, the ledger included: read from one snapshot, written in one transaction, and
 * each table held against its original before that ends. All or nothing.
 * @throws db.copyRefused where the target holds rows already or came out different; db.refused,
 * db.unreachable
 */
export async function copyDatabase({
  from,
  to,
  toSetting,
  signal,
  onTable,
}: CopyRequest): Promise<readonly CopiedTable[]> {
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
  await copySequences(source, target)
  await refreshMaterializedViews(target)
  await target.query('commit')
  for (const name of names) await target.query(`analyze ${name}`)
  return copied
}

/** Rows of `livehouse` and runs are what a database in use has; settings that the migrations made do not count. */
async function requireUnused(target: Session, tables: readonly CopyTable[]): Promise<void> {
  const telling = tables.filter(({ name }) => name.startsWith('livehouse.') || name === 'livehouse_ops.runs')
  for (const { name } of telling) {
    const [row] = await target.query<{ isUsed: boolean }>(`select exists (select from ${name}) as "isUsed"`)
    if (row?.isUsed === true) throw inUse(`${name} has rows already`)
  }
}

async function copySequences(source: Session, target: Session): Promise<void> {
  const sequences = await target.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = any($1) and c.relkind = 'S'`,
    [COPIED_SCHEMAS],
  )
  for (const { name } of sequences) {
    const [at] = await source.query<{ value: string; isCalled: boolean }>(
      `select last_value as value, is_called as "isCalled" from ${name}`,
    )
    if (at !== undefined) await target.query('select setval($1::regclass, $2, $3)', [name, at.value, at.isCalled])
  }
}

async function refreshMaterializedViews(target: Session): Promise<void> {
  const views = await target.query<{ name: string }>(
    `select format('%I.%I', schemaname, matviewname) as name from pg_matviews where schemaname = any($1)`,
    [COPIED_SCHEMAS],
  )
  for (const { name } of views) await target.query(`refresh materialized view ${name}`)
}

function inUse(reason: string): LivehouseError<'db.copyRefused'> {
  const message = `The database to copy to is in use: ${reason}. Name an empty one; nothing was changed in this one.`
  return new LivehouseError('db.copyRefused', message, { reason })
}

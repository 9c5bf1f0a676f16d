import { differencesBetween, moveSource, readSource, type Source } from '../../ledger/source.ts'
import type { Db } from '../../store/database.ts'
import { type Rights, readRights } from '../../store/inspect-server.ts'
import { readMigrationStatus } from '../../store/migrate.ts'
import { openDatabase } from '../../store/pool.ts'
import type { AppContext } from '../context.ts'
import { openConfiguredDatabase, openUpToDate } from '../open-database.ts'
import type { DatabaseSettings, ServiceSettings } from '../settings.ts'
import { type Report, reportFailure } from './check.ts'

const DBA = 'let a DBA run the output of `livehouse migrate sql`'

/** Checks connection, rights, migrations, source of the records, queue. `service`: undefined if not configured. */
export async function checkDatabase(
  context: AppContext,
  settings: DatabaseSettings,
  service: ServiceSettings | undefined,
  report: Report,
): Promise<void> {
  const { signal } = context
  let checking = 'database'
  try {
    await using db = await openConfiguredDatabase(context, settings)
    const rights = await readRights(db)
    report('database', 'ok', `connected as ${rights.user}, PostgreSQL ${rights.version}`)
    // Without rights on the table of migrations, nothing else can be checked.
    if (rights.closedTables.some((table) => table.endsWith('.migrations')))
      return checkRights(rights, [], false, report)
    const migrations = await readMigrationStatus(db, { signal })
    const pending = migrations.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name)
    const isEmpty = pending.length === migrations.length
    checkRights(rights, pending, isEmpty, report)
    checkSchema(rights, pending, isEmpty, settings, report)
    if (!isEmpty && rights.closedTables.length === 0) await checkSource(db, service, report)
    if (settings.queueUrl === undefined) return
    checking = 'queue'
    await using queue = await openDatabase(settings.queueUrl, { signal, setting: 'LIVEHOUSE_QUEUE_URL' })
    const ofQueue = await readRights(queue, ['pgboss'])
    const missing = ofQueue.hasTables ? [] : ['pgboss']
    checkRights(ofQueue, missing, !ofQueue.hasTables, (_, ...result) => report('queue', ...result))
  } catch (error) {
    reportFailure(report, checking, error, signal)
  }
}

function checkRights(rights: Rights, pending: readonly string[], isEmpty: boolean, report: Report): void {
  const { user, database, isReadOnly, canMigrate, closedTables } = rights
  if (isReadOnly) {
    const repair = 'connect to the primary, or turn off default_transaction_read_only'
    report('rights', 'failed', 'the server is read-only', repair)
  } else if (closedTables.length > 0) {
    const schemas = `SCHEMA ${[...new Set(closedTables.map((table) => table.split('.')[0]))].join(', ')}`
    const tables = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN ${schemas} TO ${user};`
    const repair = `let their owner run: GRANT USAGE ON ${schemas} TO ${user}; ${tables}`
    report('rights', 'failed', `${user} may not read and write ${closedTables.join(', ')}`, repair)
  } else if (canMigrate) report('rights', 'ok', `${user} may create and change the schemas`)
  else if (pending.length === 0) report('rights', 'ok', `${user} may write every table; migrations are for a DBA`)
  else {
    const repair = isEmpty ? `let a DBA run: GRANT CREATE ON DATABASE ${database} TO ${user};` : DBA
    report('rights', 'failed', `${user} may not create or change the schemas`, repair)
  }
}

function checkSchema(
  { canMigrate }: Rights,
  pending: readonly string[],
  isEmpty: boolean,
  { isAutoMigrated }: DatabaseSettings,
  report: Report,
): void {
  if (pending.length === 0) return report('schema', 'ok', 'every migration is applied')
  const finding = isEmpty ? 'does not exist yet' : `pending: ${pending.join(', ')}`
  if (isAutoMigrated && canMigrate) return report('schema', 'ok', `${finding}; the next sync brings it up to date`)
  report('schema', 'failed', finding, canMigrate ? `livehouse migrate up, or ${DBA}` : DBA)
}

async function checkSource(db: Db, source: Source | undefined, report: Report): Promise<void> {
  const remembered = await readSource(db)
  if (remembered === undefined) return report('source', 'ok', 'no run has claimed this database yet')
  const differences = source ? differencesBetween(remembered, source) : []
  if (differences.length === 0) return report('source', 'ok', `holds the records of ${remembered.baseUrl}`)
  const repair =
    'set the old value again, or point DATABASE_URL at another database; where the same account has only moved, run ' +
    '`livehouse doctor --confirm-source`'
  report('source', 'failed', `holds the records of another source: ${differences.join('; ')}`, repair)
}

/**
 * Records that the account of the database has moved to this source.
 * @returns what has changed; undefined if no run has claimed the database yet
 */
export async function confirmSource(
  context: AppContext,
  settings: DatabaseSettings,
  source: Source,
): Promise<readonly string[] | undefined> {
  await using opened = await openUpToDate(context, settings)
  return opened.db && (await moveSource(opened.db, source))
}

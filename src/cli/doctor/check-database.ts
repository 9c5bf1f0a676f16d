import type { Kysely } from 'kysely'
import { openConfiguredDatabase } from '../../app/open-database.ts'
import type { DatabaseSettings, ServiceSettings } from '../../app/settings.ts'
import { differencesBetween, readSource, type Source } from '../../ledger/source.ts'
import type { Database } from '../../store/database.ts'
import { readRights, type Rights } from '../../store/inspect-server.ts'
import { readMigrationStatus } from '../../store/migrate.ts'
import type { CliContext } from '../command.ts'
import { type Check, failed, passed, type ReportCheck, skipped } from './check.ts'

const DBA = 'let a DBA run the output of `livehouse migrate sql`'

/** The connection, its user's rights, the migrations, and whose records are there. `service`: undefined where settings lack. */
export async function checkDatabase(
  context: CliContext,
  settings: DatabaseSettings,
  service: ServiceSettings | undefined,
  report: ReportCheck,
): Promise<void> {
  const { signal } = context
  try {
    await using db = await openConfiguredDatabase(context, settings)
    const rights = await readRights(db)
    report(passed('database', `connected as ${rights.user}, PostgreSQL ${rights.version}`))
    const migrations = await readMigrationStatus(db, { signal })
    const pending = migrations.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name)
    const isEmpty = pending.length === migrations.length
    report(checkRights(rights, pending, isEmpty))
    report(checkSchema(rights, pending, isEmpty, settings.isAutoMigrated))
    const isReadable = !isEmpty && rights.closedTables.length === 0
    report(isReadable ? await checkSource(db, service) : skipped('source', 'no run has claimed this database yet'))
  } catch (error) {
    report(failed('database', error, signal))
  }
}

function checkRights(
  { user, database, isReadOnly, canMigrate, closedTables }: Rights,
  pending: readonly string[],
  isEmpty: boolean,
): Check {
  const name = 'rights'
  const broken = (seen: string, mend: string): Check => ({ name, result: 'failed', seen, mend })
  if (isReadOnly)
    return broken('the server is read-only', 'connect to the primary, or end default_transaction_read_only')
  if (closedTables.length > 0) {
    const schemas = `SCHEMA ${[...new Set(closedTables.map((table) => table.split('.')[0]))].join(', ')}`
    return broken(
      `${user} may not read and write ${closedTables.join(', ')}`,
      `let their owner run: GRANT USAGE ON ${schemas} TO ${user}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN ${schemas} TO ${user};`,
    )
  }
  if (canMigrate) return passed(name, `${user} may create and change the schemas`)
  if (pending.length === 0) return passed(name, `${user} may write every table; migrations are for a DBA`)
  return broken(
    `${user} may not create or change the schemas`,
    isEmpty ? `let a DBA run: GRANT CREATE ON DATABASE ${database} TO ${user};` : DBA,
  )
}

function checkSchema(
  { canMigrate }: Rights,
  pending: readonly string[],
  isEmpty: boolean,
  isAutoMigrated: boolean,
): Check {
  const name = 'schema'
  if (pending.length === 0) return passed(name, 'every migration is applied')
  const seen = isEmpty ? 'not there yet' : `pending: ${pending.join(', ')}`
  if (isAutoMigrated && canMigrate) return passed(name, `${seen}; the next sync brings it up to date`)
  return { name, result: 'failed', seen, mend: canMigrate ? `livehouse migrate up, or ${DBA}` : DBA }
}

async function checkSource(db: Kysely<Database>, source: Source | undefined): Promise<Check> {
  const name = 'source'
  const remembered = await readSource(db)
  if (remembered === undefined) return passed(name, 'no run has claimed this database yet')
  const differences = source ? differencesBetween(remembered, source) : []
  if (differences.length === 0) return passed(name, `holds the records of ${remembered.baseUrl}`)
  const mend =
    'set the old value again, point DATABASE_URL at another database, or, where the account is the same and only its address or app ' +
    'id has changed, run `livehouse doctor --confirm-source`'
  return { name, result: 'failed', seen: `holds the records of another source: ${differences.join('; ')}`, mend }
}

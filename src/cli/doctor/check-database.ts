import type { DatabaseSettings, ServiceSettings } from '../../app/settings.ts'
import type { Kysely } from 'kysely'
import { openConfiguredDatabase } from '../../app/open-database.ts'
import { DAY, offsetAt } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { readMigrationStatus } from '../../store/migrate.ts'
import { readRights, readZone, type Rights, type ServerZone } from '../../store/inspect-server.ts'
import { differencesBetween, readSource, type Source } from '../../ledger/source.ts'
import type { CliContext } from '../command.ts'
import { type Check, failed, passed, type ReportCheck, skipped } from './check.ts'

const DBA = 'let a DBA run the output of `livehouse migrate sql`'
const GRANTS = 'let a DBA run the output of `livehouse doctor --grants`'
const dependent = ['zone', 'rights', 'schema', 'source']

/**
 * The connection, the time zone, its user's rights, the migrations, and whose records are there.
 * `service`: undefined where settings lack.
 */
export async function checkDatabase(
  context: CliContext,
  settings: DatabaseSettings,
  service: ServiceSettings | undefined,
  report: ReportCheck,
): Promise<void> {
  const { signal } = context
  const opened = await openToCheck(context, settings)
  if (opened.db === undefined) {
    report(opened.check)
    for (const name of dependent) report(skipped(name, 'not checked: there is no connection'))
    return
  }
  await using db = opened.db
  const rights = await readRights(db)
  report(passed('database', `connected as ${rights.user}, PostgreSQL ${rights.version}`))
  try {
    if (service !== undefined) report(await checkZone(db, service.timeZone, context.clock.now()))
    const migrations = await readMigrationStatus(db, { signal })
    const pending = migrations.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name)
    report(checkRights(rights, pending))
    report(checkSchema(rights, pending, settings.isAutoMigrated, pending.length === migrations.length))
    const isClaimable = pending.length < migrations.length && rights.closedTables.length === 0
    report(isClaimable ? await checkSource(db, service) : skipped('source', 'no run has claimed this database yet'))
  } catch (error) {
    report(failed('schema', error, signal))
  }
}

type Opened =
  | { readonly db: Kysely<Database>; readonly check: undefined }
  | { readonly db: undefined; readonly check: Check }

async function openToCheck(context: CliContext, settings: DatabaseSettings): Promise<Opened> {
  try {
    return { db: await openConfiguredDatabase(context, settings), check: undefined }
  } catch (error) {
    return { db: undefined, check: failed('database', error, context.signal) }
  }
}

function checkRights({ user, isReadOnly, canMigrate, closedTables }: Rights, pending: readonly string[]): Check {
  const name = 'rights'
  const broken = (seen: string, mend: string): Check => ({ name, result: 'failed', seen, mend })
  if (isReadOnly)
    return broken('the server is read-only', 'connect to the primary, or end default_transaction_read_only')
  if (closedTables.length > 0) {
    return broken(`${user} may not read and write ${closedTables.join(', ')}`, GRANTS)
  }
  if (canMigrate) return passed(name, `${user} may create and change the schemas`)
  if (pending.length === 0) return passed(name, `${user} may write every table; migrations are for a DBA`)
  return broken(`${user} may not create or change the schemas`, `${GRANTS}, or that of \`livehouse migrate sql\``)
}

function checkSchema(
  { canMigrate }: Rights,
  pending: readonly string[],
  isAutoMigrated: boolean,
  isEmpty: boolean,
): Check {
  const name = 'schema'
  if (pending.length === 0) return passed(name, 'every migration is applied')
  const seen = isEmpty ? 'not there yet' : `pending: ${pending.join(', ')}`
  if (isAutoMigrated && canMigrate) return passed(name, `${seen}; the next sync brings it up to date`)
  const mend = canMigrate ? `livehouse migrate up, or ${DBA}` : DBA
  return { name, result: 'failed', seen, mend }
}

async function checkSource(db: Kysely<Database>, source: Source | undefined): Promise<Check> {
  const name = 'source'
  const remembered = await readSource(db)
  if (remembered === undefined) return passed(name, 'no run has claimed this database yet')
  if (source === undefined) return skipped(name, `holds the records of ${remembered.baseUrl}`)
  // An app id that comes later is remembered then.
  const differences = differencesBetween({ ...remembered, appId: remembered.appId ?? source.appId }, source)
  if (differences.length === 0) return passed(name, `holds the records of ${remembered.baseUrl}`)
  const mend =
    'set the old value again, or point DATABASE_URL at another database; a service that has only moved is confirmed by `livehouse doctor --confirm-source`'
  return { name, result: 'failed', seen: `holds the records of another source: ${differences.join('; ')}`, mend }
}

/** Whether the database knows the zone of the service's times: now, and each half year of the last ten. */
async function checkZone(db: Kysely<Database>, timeZone: string, nowMs: number): Promise<Check> {
  const instants = Array.from({ length: 21 }, (_, index) => nowMs - index * 182 * DAY * 1000)
  return judgeZone(timeZone, await readZone(db, timeZone, instants), nowMs)
}

/** The zone of the service's times, which Postgres turns into instants and this program asks by: both must know the same of it. */
export function judgeZone(timeZone: string, { isKnown, differences }: ServerZone, nowMs: number): Check {
  const name = 'zone'
  const mend =
    'update the time zones of the database server (tzdata), or set LIVEHOUSE_TIMEZONE to a name that both know'
  if (!isKnown) return { name, result: 'failed', seen: `PostgreSQL does not know ${timeZone}`, mend }
  const [first] = differences
  if (first === undefined) return passed(name, `${timeZone} (${offsetAt(nowMs, timeZone)} now), the same in PostgreSQL`)
  const seen = `${timeZone} shows another time in PostgreSQL than here, such as on ${new Date(first).toISOString().slice(0, 10)}`
  return { name, result: 'failed', seen, mend }
}

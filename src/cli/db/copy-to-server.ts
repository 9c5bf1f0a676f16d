import type { Kysely } from 'kysely'
import { readDatabaseSettings, readSettings } from '../../config.ts'
import { LivehouseError } from '../../core/errors.ts'
import { publishBi } from '../../db/bi/publish-bi.ts'
import { copyDatabase } from '../../db/copy-database.ts'
import type { Database } from '../../db/database.ts'
import { describeTarget } from '../../db/database-url.ts'
import { mendCredentials } from '../../db/mend-credentials.ts'
import { migrateUp, readMigrationStatus, requireMigrated } from '../../db/migrate.ts'
import { openDatabase } from '../../db/pool.ts'
import type { CliContext } from '../command.ts'
import { formatTable } from '../table.ts'
import type { Refuse } from '../wrong-use.ts'

const FLAG = '--to'
const EXPECTED = 'a Postgres URL such as postgres://USER@HOST:5432/NAME'

/** The URL behind `--to`. It is never shown. */
export function readCopyTarget(given: string | undefined, refuse: Refuse): string {
  const protocol = URL.parse(given ?? '')?.protocol
  if (given === undefined) refuse(`copy needs --to, ${EXPECTED}`)
  else if (protocol !== 'postgres:' && protocol !== 'postgresql:') refuse(`--to (not shown) should be ${EXPECTED}`)
  return given ?? ''
}

/**
 * `livehouse db copy`: the embedded database into a server's.
 * @throws db.copyRefused, db.… codes
 */
export async function copyToServer(context: CliContext, from: string, given: string): Promise<number> {
  const { signal, print, remark } = context
  const to = mendCredentials(given)
  const password = decodeURIComponent(new URL(to).password)
  context.addSecret(password)
  if (password !== '')
    remark('other users of this machine can read the password in --to; leave it out and set PGPASSWORD')
  const isAutoMigrated = readSettings(
    { ...context.environment, DATABASE_URL: to },
    (source) => readDatabaseSettings(source).isAutoMigrated,
  )
  const migrate = async (db: Kysely<Database>, setting: string): Promise<void> => {
    if (isAutoMigrated) await migrateUp(db, { signal, setting })
    else await requireMigrated(db, { signal, setting })
  }
  {
    await using source = await openDatabase(from, { signal, maxConnections: 1 })
    const migrations = await readMigrationStatus(source, { signal })
    if (migrations.every(({ appliedAt }) => appliedAt === null)) throw nothingToCopy(from)
    await migrate(source, 'DATABASE_URL')
    await using target = await openDatabase(to, { signal, maxConnections: 1, setting: FLAG })
    await migrate(target, FLAG)
  }
  const onTable = ({ name, rows }: { name: string; rows: number }) => remark(`copied ${name}: ${rows} rows`)
  const copied = await copyDatabase({ from, to, toSetting: FLAG, signal, onTable })
  if (isAutoMigrated) {
    // With the rows came the zone and the settings that the views show.
    await using target = await openDatabase(to, { signal, maxConnections: 1, setting: FLAG })
    const { notice } = await publishBi(target, { signal })
    if (notice !== undefined) remark(notice)
  }
  const filled = copied.filter(({ rows }) => rows > 0)
  formatTable(
    ['table', 'rows'],
    filled.map(({ name, rows }) => [name, rows]),
  ).forEach(print)
  print(`copied to ${describeTarget(to)}: every table has the rows of its original, by count and content.`)
  print('Set DATABASE_URL to it: the next sync goes on there. Runs that still write to the old one are not followed.')
  return 0
}

function nothingToCopy(from: string): LivehouseError<'db.copyRefused'> {
  const reason = `${describeTarget(from)} holds nothing yet`
  return new LivehouseError(
    'db.copyRefused',
    `There is nothing to copy: ${reason}. Run livehouse sync with DATABASE_URL=embedded first, or name another with --database.`,
    { reason },
  )
}

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { EMBEDDED_DATABASE, embeddedUrl } from '../app/open-database.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { POSTGRES_URL } from '../config/read-credentials.ts'
import { readDatabaseSettings, readDataDir, readSettings } from '../config.ts'
import { wrongUse } from '../core/errors.ts'
import { passwordsOf } from '../core/secret-pattern.ts'
import { parsePostgresUrl } from '../core/text.ts'
import { withoutRequireAuth } from '../store/driver.ts'
import { stopEmbedded } from '../store/embedded.ts'
import { openDatabase } from '../store/pool.ts'
import { copyDatabase, dumpDatabase, restoreDatabase } from '../store/transfer-database.ts'
import { describeTarget } from '../store/translate-error.ts'
import type { CliContext } from './command.ts'
import { defineCommand, type Refuse, refuseWords } from './usage.ts'

const databases = [EMBEDDED_DATABASE, 'livehouse_demo'] as const

export const db = defineCommand(
  {
    about: `Manages the PostgreSQL 18 in LIVEHOUSE_DATA_DIR (.livehouse), which is used with DATABASE_URL=embedded
and by \`livehouse demo\`. It listens on one port of 127.0.0.1, and keeps running after a command.`,
    actions: {
      start: 'starts it, unless it is running, and says where it listens',
      stop: 'stops it; the data stays',
      url: 'prints the URL for psql and BI tools, with the password; starts it if necessary',
      psql: 'opens psql on it, with the arguments after --; if psql is not installed, prints how to connect',
      copy:
        'copies everything, the ledger included, into an empty database of another server, from one snapshot; all ' +
        'of it or nothing. The next sync with that DATABASE_URL goes on there',
      dump: 'writes everything, the ledger included, from one snapshot into a new file, a script that psql runs too',
      restore: 'reads such a file into an empty database; all of it or nothing',
    },
    words: '[-- ARGUMENT]…',
    flags: {
      database: ['NAME', `${databases.join(', or ')}, which the demo makes (default: ${EMBEDDED_DATABASE})`],
      to: ['URL', 'a Postgres URL; the password can be in PGPASSWORD or ~/.pgpass, hidden from others', 'copy'],
      file: ['PATH', 'the file of the dump, for its owner alone to read', 'dump', 'restore'],
    },
    examples: `livehouse db url
livehouse db psql --database livehouse_demo
livehouse db psql -- -c 'select count(*) from livehouse.visitors'
livehouse db dump --file livehouse.sql
PGPASSWORD=… livehouse db copy --to 'postgres://livehouse@db.example.com/livehouse?sslmode=verify-full'`,
  },
  ({ action, values, words }, refuse) => {
    const { database = EMBEDDED_DATABASE } = values
    if (!databases.some((name) => name === database))
      refuse(`--database is ${JSON.stringify(database)}; it should be ${databases.join(' or ')}`)
    if (action !== 'psql') refuseWords(words, refuse)
    const file = action === 'dump' || action === 'restore' ? readFileName(action, values.file, refuse) : ''
    return { action, database, words, file, copyTarget: action === 'copy' ? readCopyTarget(values.to, refuse) : '' }
  },
  async (context, { action, database, words, file, copyTarget }) => {
    const dataDir = readSettings(context.environment, readDataDir)
    if (action === 'stop') {
      const wasRunning = await stopEmbedded(dataDir, context.signal)
      context.print(wasRunning ? `stopped: the PostgreSQL in ${dataDir}` : `no PostgreSQL runs in ${dataDir}`)
      return 0
    }
    const url = await embeddedUrl(context, dataDir, database)
    switch (action) {
      case 'start':
        context.print(`runs: ${describeTarget(url)} (in ${dataDir}); livehouse db url prints the whole URL`)
        return 0
      case 'url':
        context.print(withoutRequireAuth(url))
        return 0
      case 'copy':
        return copyToServer(context, url, copyTarget)
      case 'dump':
        await bringUpToDate(context, url)
        await dumpDatabase(url, file, context.signal)
        context.print(`dumped to ${file}, which holds personal data in clear`)
        return 0
      case 'restore':
        await restoreDatabase(url, file, context.signal)
        await bringUpToDate(context, url)
        context.print('restored: the next sync goes on from there')
        return 0
      case 'psql':
        return openPsql(context, withoutRequireAuth(url), words)
    }
  },
)

/** Replaces this process by psql, so that Ctrl-C, the terminal and the exit code are psql's own. */
function openPsql({ environment, print }: CliContext, url: string, args: readonly string[]): number {
  const lookup = spawnSync('/bin/sh', ['-c', 'command -v psql'], { env: environment, encoding: 'utf8' })
  if (lookup.status !== 0 || process.execve === undefined) {
    print(`psql is not installed here. Any PostgreSQL client can connect with\n  ${url}`)
    return 0
  }
  const { hostname, port, username, password, pathname } = new URL(url)
  // Not as an argument: every user of the machine could read the password there.
  const connection = {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: decodeURIComponent(password),
    PGREQUIREAUTH: 'scram-sha-256',
    PGSSLMODE: 'disable',
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
  }
  return process.execve(lookup.stdout.trim(), ['psql', ...args], { ...environment, ...connection })
}

/** The URL of `--to`; never shown. */
function readCopyTarget(given: string | undefined, refuse: Refuse): string {
  const url = parsePostgresUrl(given ?? '')
  if (given === undefined) refuse(`copy needs --to, ${POSTGRES_URL}`)
  else if (url === undefined) refuse(`--to (not shown) should be ${POSTGRES_URL}`)
  return url ?? ''
}

function readFileName(action: 'dump' | 'restore', given: string | undefined, refuse: Refuse): string {
  if (!given) refuse(`${action} needs --file, the path of a file`)
  else if (existsSync(given) !== (action === 'restore'))
    refuse(`--file ${given} is ${action === 'dump' ? 'there already; name a new one' : 'not there'}`)
  return given ?? ''
}

/** Brings schema and views up to date, as each command does. */
async function bringUpToDate(context: CliContext, url: string, given?: string): Promise<void> {
  const settings = readSettings({ ...context.environment, DATABASE_URL: url }, readDatabaseSettings)
  const from = given ?? `the embedded PostgreSQL in ${settings.dataDir}`
  await (await openWarehouse(context, { ...settings, from })).destroy()
}

async function copyToServer(context: CliContext, from: string, to: string): Promise<number> {
  const { signal, print, remark } = context
  const { isAutoMigrated } = readSettings({ ...context.environment, DATABASE_URL: to }, readDatabaseSettings)
  if (!isAutoMigrated) throw wrongUse('copy makes the schema, but LIVEHOUSE_AUTO_MIGRATE is 0: set it to 1 for this')
  const passwords = passwordsOf(to)
  for (const password of passwords) context.addSecret(password)
  if (passwords.length > 0)
    remark('other users of this machine can read the password in --to; leave it out and set PGPASSWORD')
  // Fails at once if the server is too old or the database cannot store every text.
  await (await openDatabase(to, { signal, maxConnections: 1, setting: '--to' })).destroy()
  await bringUpToDate(context, from)
  const onTable = (name: string, rows: number) => remark(`copied ${name}: ${rows} rows`)
  await copyDatabase(from, { url: to, setting: '--to', signal, onTable })
  await bringUpToDate(context, to, '--to')
  print(`copied to ${describeTarget(to)}. Set DATABASE_URL to it: the next sync goes on there.`)
  print('What runs still write to the old database is not copied.')
  return 0
}

import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { biViews } from '../src/bi/registry.ts'
import { sync } from '../src/cli/sync.ts'
import { systemClock } from '../src/core/clock.ts'
import { startEmulator } from '../src/emulator/server.ts'
import { locateHome } from '../src/store/embedded/home.ts'
import { startEmbedded, stopEmbedded } from '../src/store/embedded.ts'
import { openDatabase } from '../src/store/pool.ts'
import { createTestContext } from '../test/helpers/cli-context.ts'
import { FIXED_NOW } from '../test/helpers/emulated-service.ts'
import { superuserUrl } from '../test/helpers/superuser-url.ts'

/**
 * `npm run bi-clients` tries real clients on the analysts' views, with a login that has only `livehouse_analyst`. Each
 * must list all views and columns with their comments, run every query of docs/queries.md, see only masked phones and
 * be refused a table. They use an embedded PostgreSQL, which is removed at the end. Clients that are not installed are
 * named and skipped. Exits with 1 if an installed client reports anything else.
 */

const LOGIN = 'bi_client'
const PASSWORD = 'of-this-trial-alone'
const folder = join(import.meta.dirname, 'bi-clients')
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))

/** What a client reports; it prints one `name value` per line. */
interface Report {
  readonly views: string
  readonly described: string
  readonly columns: string
  readonly commented: string
  readonly queries: string
  readonly masked: string
  readonly refused: string
}

interface Client {
  readonly name: string
  /** Prints its version, or fails if it is not installed. */
  readonly probe: readonly string[]
  /** The Debian packages that install it. */
  readonly packages: string
  readonly command: readonly string[]
}

const jar = process.env['POSTGRESQL_JAR'] ?? '/usr/share/java/postgresql.jar'
/** Debian's packages are for Debian's interpreter, which may not be the first in PATH. */
const python = process.env['PYTHON'] ?? '/usr/bin/python3'

const clients: readonly Client[] = [
  {
    name: 'psql',
    probe: ['psql', '--version'],
    packages: 'postgresql-client',
    command: ['sh', join(folder, 'psql.sh')],
  },
  {
    name: 'isql (ODBC)',
    probe: ['sh', '-c', 'isql --version && odbcinst -q -d -n "PostgreSQL Unicode"'],
    packages: 'unixodbc odbc-postgresql',
    command: ['sh', join(folder, 'isql.sh')],
  },
  {
    name: 'pandas',
    probe: [
      python,
      '-c',
      'import pandas, sqlalchemy, psycopg2; print("pandas", pandas.__version__, "SQLAlchemy", sqlalchemy.__version__, "psycopg2", psycopg2.__version__)',
    ],
    packages: 'python3-pandas python3-sqlalchemy python3-psycopg2',
    command: [python, join(folder, 'pandas_client.py')],
  },
  {
    name: 'JDBC',
    probe: [
      'sh',
      '-c',
      `test -r '${jar}' && javac -version && java -cp '${jar}' org.postgresql.util.PGJDBCMain | head -1`,
    ],
    packages: 'default-jdk-headless libpostgresql-jdbc-java',
    command: ['java', '-cp', jar, join(folder, 'JdbcClient.java')],
  },
]

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function run(command: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
  const [program = '', ...argv] = command
  const child = spawn(program, argv, { env: { ...process.env, ...environment }, signal: stop.signal })
  const texts: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => texts.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => texts.push(text))
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.on('error', reject).on('close', resolve)
  const code = await promise
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${texts.join('').slice(-2000)}`)
  return texts.join('')
}

/** Writes the queries to three files for the clients: as JSON, as a script, and one per line. */
async function writeQueries(directory: string): Promise<number> {
  const text = await readFile(join(import.meta.dirname, '../docs/queries.md'), 'utf8')
  const queries = [...text.matchAll(/```sql\n([^]*?)\n```/g)].map(([, query = '']) => query)
  await writeFile(join(directory, 'queries.json'), JSON.stringify(queries))
  await writeFile(join(directory, 'queries.sql'), queries.map((query) => `${query};\n`).join('\n'))
  await writeFile(
    join(directory, 'queries.lines'),
    queries.map((query) => `${query.replaceAll(/\s+/g, ' ')}\n`).join(''),
  )
  return queries.length
}

/** Fills a warehouse by a sync, at the time that docs/queries.md gives its answers for, and creates the login. */
async function fill(url: string): Promise<void> {
  const clock = { now: () => FIXED_NOW, sleep: systemClock.sleep }
  await using emulator = await startEmulator({ channels: 3, viewers: 150, clock })
  const environment = {
    LIVEHOUSE_BASE_URL: emulator.baseUrl,
    LIVEHOUSE_API_TOKEN: emulator.apiToken,
    LIVEHOUSE_CHANNELS: emulator.channelIds.join(','),
    LIVEHOUSE_MAX_CALLS_PER_SECOND: '0',
    DATABASE_URL: url,
  }
  const code = await sync.run(createTestContext({ environment, clock, signal: stop.signal }).context, [])
  if (code !== 0) throw new Error(`the sync ended with ${code}`)
  await using db = await openDatabase(url, { signal: stop.signal })
  await sql.raw(`create role ${LOGIN} login password '${PASSWORD}'; grant livehouse_analyst to ${LOGIN}`).execute(db)
}

async function tryClient(
  client: Client,
  environment: Readonly<Record<string, string>>,
  expected: Report,
): Promise<boolean> {
  let version: string
  try {
    version = (await run(client.probe, environment)).trim().replaceAll(/\s+/g, ' ')
  } catch {
    stop.signal.throwIfAborted()
    say(`– ${client.name}: NOT TRIED, not installed (apt-get install ${client.packages})`)
    return true
  }
  const printed = await run(client.command, environment)
  const lines = [...printed.matchAll(/^(\w+) (\S+)$/gm)].map(([, name = '', value = '']) => [name, value] as const)
  const reported: Readonly<Record<string, string>> = Object.fromEntries(lines)
  const wrong = Object.entries(expected).filter(([name, value]) => reported[name] !== value)
  say(`${wrong.length === 0 ? '✓' : '✗'} ${client.name}: ${version}`)
  for (const [name, value] of wrong) say(`    ${name}: ${reported[name] ?? 'not reported'}, expected ${value}`)
  if (wrong.length > 0) say(printed.slice(-4000))
  return wrong.length === 0
}

const directory = await mkdtemp(join(tmpdir(), 'livehouse-clients-'))
const dataDir = join(directory, 'data')
try {
  const queries = await writeQueries(directory)
  const server = await startEmbedded(dataDir, systemClock, stop.signal)
  const url = await superuserUrl(server, dataDir)
  await fill(url)
  const { hostname, port } = new URL(url)
  const ini = `[livehouse]\nDriver = PostgreSQL Unicode\nServername = ${hostname}\nPort = ${port}\nDatabase = postgres\nSSLmode = disable\n`
  await writeFile(join(directory, 'odbc.ini'), ini)
  const environment = {
    PGHOST: hostname,
    PGPORT: port,
    PGDATABASE: 'postgres',
    PGUSER: LOGIN,
    PGPASSWORD: PASSWORD,
    PGCLIENTENCODING: 'UTF8',
    LC_ALL: 'C.UTF-8',
    ODBCINI: join(directory, 'odbc.ini'),
    QUERIES: directory,
  }
  const columns = biViews.reduce((sum, { columns: ofView }) => sum + Object.keys(ofView).length, 0)
  const expected: Report = {
    views: `${biViews.length}`,
    described: `${biViews.length}`,
    columns: `${columns}`,
    commented: `${columns}`,
    queries: `${queries}`,
    masked: 'yes',
    refused: 'yes',
  }
  say(`${biViews.length} views, ${columns} columns, ${queries} queries`)
  const results: boolean[] = []
  for (const client of clients) results.push(await tryClient(client, environment, expected))
  if (results.includes(false)) process.exitCode = 1
} finally {
  await stopEmbedded(dataDir, new AbortController().signal)
  const { place } = await locateHome(dataDir)
  for (const path of [place, directory]) await rm(path, { recursive: true, force: true })
}

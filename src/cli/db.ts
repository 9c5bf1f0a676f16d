import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { EMBEDDED_DATABASE, embeddedUrl } from '../app/open-database.ts'
import { readDataDir, readSettings } from '../config.ts'
import { describeTarget } from '../db/database-url.ts'
import { stopEmbedded } from '../db/embedded.ts'
import { withoutRequireAuth } from '../db/require-scram.ts'
import type { CliContext } from './command.ts'
import { copyToServer, readCopyTarget } from './db/copy-to-server.ts'
import { defineCommand } from './usage.ts'

/** `livehouse db`: the embedded PostgreSQL. */
export const db = defineCommand(
  {
    verb: 'db',
    about: `The PostgreSQL 18 that livehouse keeps in LIVEHOUSE_DATA_DIR (.livehouse), used with DATABASE_URL=embedded and by
\`livehouse demo\`. It listens on 127.0.0.1 alone and goes on running after a command, so that BI tools can connect; its port
stays the same.`,
    actions: {
      start: 'starts it, where it does not run, and says where it listens',
      stop: 'stops it; the data stays',
      url: 'prints the URL for psql and BI tools, with the password; starts it where need be',
      psql: 'opens psql on it, with what stands behind --; without a psql on this machine, prints how to connect',
      copy:
        'copies everything, the ledger included, into an empty database of another server, from one consistent snapshot; all of it ' +
        'or nothing, each table compared with its original. The next sync with that DATABASE_URL goes on there. The embedded ' +
        'database stays as it is',
    },
    passesOn: true,
    flags: {
      database: [
        'NAME',
        `which database: ${EMBEDDED_DATABASE}, or livehouse_demo for that of the demo (default: ${EMBEDDED_DATABASE})`,
      ],
      to: [
        'URL',
        'a Postgres URL as in DATABASE_URL. Its password may be left out and stand in PGPASSWORD or ~/.pgpass, where other users of ' +
          'this machine do not see it',
        'copy',
      ],
    },
    examples: `livehouse db url
livehouse db psql --database livehouse_demo
livehouse db psql -- -c 'select count(*) from livehouse.visitors'
pg_dump "$(livehouse db url)" > warehouse.sql
PGPASSWORD=… livehouse db copy --to 'postgres://livehouse@db.example.com/livehouse?sslmode=verify-full'`,
  },
  ({ action, values, passedOn }, refuse) => ({
    action,
    values,
    passedOn,
    copyTarget: action === 'copy' ? readCopyTarget(values.to, refuse) : '',
  }),
  async (context, { action, values, passedOn, copyTarget }) => {
    const dataDir = readSettings(context.environment, readDataDir)
    if (action === 'stop') {
      const wasRunning = await stopEmbedded(dataDir, context.signal)
      context.print(wasRunning ? `stopped: the PostgreSQL in ${dataDir}` : `no PostgreSQL runs in ${dataDir}`)
      return 0
    }
    const url = await embeddedUrl(context, dataDir, values.database)
    switch (action) {
      case 'start':
        context.print(
          `runs: ${describeTarget(url)} (the PostgreSQL in ${dataDir}); livehouse db url prints the whole URL`,
        )
        return 0
      case 'url':
        context.print(withoutRequireAuth(url))
        return 0
      case 'copy':
        return copyToServer(context, url, copyTarget)
      case 'psql':
        return openPsql(context, withoutRequireAuth(url), passedOn)
    }
  },
)

/** Becomes psql, so that Ctrl-C, the terminal and the exit code are psql's own. */
async function openPsql({ environment, print }: CliContext, url: string, args: readonly string[]): Promise<number> {
  const psql = await findProgram('psql', environment.PATH)
  if (psql === undefined || process.execve === undefined || process.platform === 'win32') {
    print(`There is no psql to open here. Any PostgreSQL client connects with\n  ${url}`)
    return 0
  }
  const { hostname, port, username, password, pathname } = new URL(url)
  // Not as an argument, where every user of the machine could read the password.
  const connection = {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
  }
  return process.execve(psql, ['psql', ...args], { ...environment, ...connection })
}

/** The first program of this name in `PATH`; undefined when there is none. */
export async function findProgram(name: string, path: string | undefined): Promise<string | undefined> {
  for (const directory of (path ?? '').split(delimiter)) {
    if (directory === '') continue
    const file = join(directory, name)
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}

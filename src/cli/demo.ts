import type { Kysely } from 'kysely'
import { outcomeJson } from '../app/outcome.ts'
import { readDataDir, readSettings } from '../config.ts'
import { publishBi } from '../db/bi/publish-bi.ts'
import { describeTarget } from '../db/database-url.ts'
import type { Database } from '../db/database.ts'
import { startEmbedded } from '../db/embedded.ts'
import { migrateUp } from '../db/migrate.ts'
import { openDatabase } from '../db/pool.ts'
import { recreateDatabase } from '../db/recreate-database.ts'
import { withSessionLock } from '../db/with-session-lock.ts'
import type { CliContext } from './command.ts'
import { fillDemo, type FilledDemo } from './demo/fill-demo.ts'
import { answerQueries, describeConnection, describeTables } from './demo/report.ts'
import { exitCodeOfStatus } from './failure.ts'
import { JSON_OF_RUN, readPositiveInteger } from './flags.ts'
import { summarize } from './summary.ts'
import { defineCommand } from './usage.ts'

const DATABASE = 'livehouse_demo'
/**
 * Of the advisory lock that lets one demo at a time have the database. Any login of the embedded server could hold it too; then a
 * demo says that it waits, and nothing else does.
 */
const LOCK_KEY = 7_305_515_802

/** `livehouse demo`: emulator, PostgreSQL, sync, and what came of it. */
export const demo = defineCommand(
  {
    verb: 'demo',
    about: `The whole way in one command, without an account and without a database: starts an emulator of the channel service with
made-up channels and viewers, and the PostgreSQL that livehouse keeps in LIVEHOUSE_DATA_DIR; runs a sync; shows what landed
beside what the emulator has, a few queries with their answers, and how to connect. Other settings are not looked at: your
account and your database are not touched.

The database is ${DATABASE}, made anew each time. Afterwards the emulator is gone, the PostgreSQL goes on running.`,
    flags: {
      channels: ['N', 'channels (default 5)'],
      viewers: ['N', 'viewers per channel (default 2000)'],
      days: ['N', 'days of history before now (default 30)'],
      seed: ['N', 'which world (default 1); the same numbers in the same minute give the same one'],
      json: JSON_OF_RUN,
    },
    notes: 'Exit codes: 0 every table holds what the emulator has, 1 not so.',
    examples: `livehouse demo
livehouse demo --channels 2 --viewers 20000
livehouse demo --json | jq .streams
livehouse db psql --database ${DATABASE}`,
  },
  ({ values }, refuse) => ({
    isJson: values.json,
    size: {
      channels: readPositiveInteger('--channels', values.channels, refuse, 1000) ?? 5,
      viewers: readPositiveInteger('--viewers', values.viewers, refuse, 1_000_000) ?? 2000,
      days: readPositiveInteger('--days', values.days, refuse, 3650) ?? 30,
      seed: readPositiveInteger('--seed', values.seed, refuse, 4_294_967_295) ?? 1,
    },
  }),
  async (context, { size, isJson }) => {
    const dataDir = readSettings(context.environment, readDataDir)
    const { clock, signal, remark, addSecret } = context
    const server = await startEmbedded(dataDir, clock, signal)
    const url = server.url(DATABASE)
    addSecret(new URL(url).password)
    remark(`PostgreSQL  ${describeTarget(url)} (the embedded one in ${dataDir})`)
    const onWait = () => remark('another demo is running; this one begins when it has ended')
    try {
      return await withSessionLock(server.url('postgres'), { key: LOCK_KEY, clock, signal, onWait }, async () => {
        await recreateDatabase(server.url('postgres'), DATABASE, signal)
        await using db = await openDatabase(url, { signal })
        await migrateUp(db, { signal })
        await publishBi(db, { signal })
        return await show(context, await fillDemo(context, db, size), {
          db,
          url,
          dataDir,
          isJson,
        })
      })
    } finally {
      if (signal.aborted) remark(`The PostgreSQL in ${dataDir} goes on running; livehouse db stop ends it.`)
    }
  },
)

interface Shown {
  readonly db: Kysely<Database>
  readonly url: string
  readonly dataDir: string
  readonly isJson: boolean
}

async function show({ print }: CliContext, { outcome, tables }: FilledDemo, { db, url, dataDir, isJson }: Shown) {
  const lines = isJson
    ? [outcomeJson(outcome)]
    : [
        '',
        ...describeTables(tables),
        '',
        ...summarize(outcome),
        '',
        ...(await answerQueries(db)),
        ...describeConnection(url, dataDir),
      ]
  for (const line of lines) print(line)
  return exitCodeOfStatus(outcome.status)
}

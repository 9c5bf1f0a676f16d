import { join } from 'node:path'
import { OPENING } from '../app/open-database.ts'
import { outcomeObject } from '../app/outcome.ts'
import { syncPlanner } from '../app/run-backfill.ts'
import { runExtraction } from '../app/run-extraction.ts'
import { publishBi } from '../bi/publish/publish-bi.ts'
import { readDataDir, readSettings } from '../config.ts'
import type { RunOutcome } from '../core/outcome.ts'
import { packageFolder } from '../core/program-files.ts'
import { DAY, formatWallDate, formatWallTime } from '../core/wall-clock.ts'
import { startEmulator } from '../emulator/server.ts'
import { recreateDatabase } from '../store/create-database.ts'
import type { Db } from '../store/database.ts'
import { startEmbedded } from '../store/embedded.ts'
import { migrateUp } from '../store/migrate.ts'
import { countRows, openDatabase, runQuery } from '../store/pool.ts'
import { describeTarget } from '../store/translate-error.ts'
import { isOnlyWhenNamed, streams } from '../streams/registry.ts'
import type { CliContext } from './command.ts'
import { settingsOf } from './emulate.ts'
import { exitCodes } from './exit-codes.ts'
import { readExtractionSettings } from './extraction-settings.ts'
import { RUN_JSON_HELP, readInteger } from './flags.ts'
import { formatTable, printResult } from './format.ts'
import { summarize } from './summary.ts'
import { defineCommand } from './usage.ts'

const DATABASE = 'livehouse_demo'
const TIME_ZONE = 'Asia/Shanghai'
const DAYS = 30
const SEED = 1
/** If npx was given the package as a file, `npx livehouse` would look for it in the registry. */
const launcher = /[\\/]_npx[\\/]/.test(packageFolder) ? join(packageFolder, '../.bin/livehouse') : 'npx livehouse'

export const demo = defineCommand(
  {
    about: `Needs no account and no database: starts an emulator of the service with made-up channels and viewers and
the PostgreSQL that livehouse keeps in LIVEHOUSE_DATA_DIR, syncs, compares both, runs some queries and says how to
connect. Each demo creates the database ${DATABASE} anew, which ends another demo that is under way.
The PostgreSQL keeps running.`,
    flags: {
      channels: ['N', 'channels (default 5)'],
      viewers: ['N', 'viewers per channel (default 2000)'],
      json: RUN_JSON_HELP,
    },
    notes: 'Exit codes: 0 every table holds what the emulator has, 1 otherwise.',
    examples: `livehouse demo
livehouse demo --channels 2 --viewers 20000
livehouse db psql --database ${DATABASE}`,
  },
  ({ values }, refuse) => ({
    isJson: values.json,
    channels: readInteger('--channels', values.channels, refuse, 1000) ?? 5,
    viewers: readInteger('--viewers', values.viewers, refuse, 1_000_000) ?? 2000,
  }),
  async (context, { isJson, ...size }) => {
    const dataDir = readSettings(context.environment, readDataDir)
    const { clock, signal, remark } = context
    using opening = new DisposableStack()
    opening.use(await context.openProgress(OPENING))
    const server = await startEmbedded(dataDir, clock, signal)
    const url = server.url(DATABASE)
    context.addSecret(decodeURIComponent(new URL(url).password))
    remark(`PostgreSQL  ${describeTarget(url)} (the embedded one in ${dataDir})`)
    try {
      await recreateDatabase(server.url('postgres'), DATABASE, signal)
      await using db = await openDatabase(url, { signal })
      await migrateUp(db, { signal })
      await publishBi(db, { signal })
      opening.dispose()
      const { outcome, tables } = await fillDemo(context, db, size)
      const answers = isJson ? [] : await answerQueries(db)
      const run = summarize(outcome, TIME_ZONE)
      const lines = [...tables, '', ...run, '', ...answers, ...describeConnection(url, dataDir)]
      printResult(context, isJson, outcomeObject(outcome), lines)
      return exitCodes[outcome.status]
    } finally {
      if (signal.aborted) remark(`The PostgreSQL in ${dataDir} keeps running; livehouse db stop stops it.`)
    }
  },
)

/**
 * Starts an emulator, syncs its world into an empty database, and stops it. The record of the run holds the parameters
 * of the world. The outcome is `failed` if a table has more or fewer rows than the emulator. `tables`: a table of both
 * counts.
 */
export async function fillDemo(
  context: CliContext,
  db: Db,
  size: { readonly channels: number; readonly viewers: number },
): Promise<{ readonly outcome: RunOutcome; readonly tables: readonly string[] }> {
  const { clock, remark, signal } = context
  const world = { ...size, days: DAYS, seed: SEED }
  await using emulator = await startEmulator({ ...world, timeZone: TIME_ZONE, clock })
  remark(`emulator    ${emulator.baseUrl} (${size.channels} channels, ${size.viewers} viewers each, ${DAYS} days)`)
  const { endsAt } = emulator.world
  const environment = {
    ...settingsOf(emulator),
    LIVEHOUSE_HISTORY_FROM: formatWallDate(endsAt - DAYS * DAY),
    LIVEHOUSE_MAX_CALLS_PER_SECOND: '0',
    DATABASE_URL: 'embedded',
  }
  const settings = readExtractionSettings({ ...context, environment }, streams)
  const outcome = await runExtraction(context, {
    command: 'demo',
    parameters: { ...world, ends_at: formatWallTime(endsAt), time_zone: TIME_ZONE },
    settings,
    db,
    namesChannels: false,
    streams,
    planStreams: (now) => syncPlanner(db, settings, now),
  })
  signal.throwIfAborted()
  const filled = Object.entries(emulator.truth()).filter(([table]) => !isOnlyWhenNamed(table))
  const compared = await Promise.all(
    filled.map(async ([table, { length }]) => ({ table, landed: await countRows(db, table), truth: length })),
  )
  const rows = compared.map(({ table, landed, truth }) => {
    const [landedText, truthText] = [landed, truth].map((count) => count.toLocaleString('en-US'))
    return [`livehouse.${table}`, landedText, truthText, landed === truth ? '✓' : '✗']
  })
  const errors = compared.flatMap(({ table, landed, truth }) => {
    const message = `livehouse.${table} holds ${landed} rows, the emulator has ${truth}`
    return landed === truth ? [] : [{ stream: null, partition: null, code: 'internal' as const, message }]
  })
  const status = errors.length > 0 ? 'failed' : outcome.status
  return {
    outcome: { ...outcome, status, errors: [...outcome.errors, ...errors] },
    tables: formatTable(['table', 'rows', 'at the source', ''], rows),
  }
}

/** Questions of analysts that the demo answers, with SQL that can be pasted into psql. */
const readyQueries = {
  'Watch time per day': `select day, sum(viewers) as viewers, sum(visits) as visits, round(sum(watch_hours)) as hours
from livehouse_bi.daily_channel where visits > 0 group by day order by day desc limit 7`,
  'Where the new viewers of the last 7 days came from': `select access_source as source, count(*) as new_viewers
from livehouse_bi.dim_viewer where first_login_at > now() - interval '7 days'
group by source order by new_viewers desc limit 8`,
} as const

async function answerQueries(db: Db): Promise<string[]> {
  const answers = await Promise.all(
    Object.entries(readyQueries).map(async ([title, text]) => {
      const rows = await runQuery(db, text)
      const columns = Object.keys(rows[0] ?? {})
      const cells = rows.map((row) => columns.map((column) => row[column]))
      const answer = rows.length === 0 ? ['(no rows)'] : formatTable(columns, cells)
      return [title, '', ...[...`${text};`.split('\n'), '', ...answer].map((line) => `  ${line}`), '']
    }),
  )
  return answers.flat()
}

/** How to connect psql and BI tools to the demo's database. @param url its URL; the password is not shown */
function describeConnection(url: string, dataDir: string): string[] {
  const { hostname, port, username } = new URL(url)
  return [
    'Connect with psql, or with any BI tool for PostgreSQL',
    '',
    `  ${launcher} db psql --database ${DATABASE}`,
    `  ${launcher} db url --database ${DATABASE}     the whole URL, with the password`,
    `  host ${hostname}   port ${port}   user ${username}   database ${DATABASE}   no TLS`,
    '',
    `The PostgreSQL in ${dataDir} keeps running; ${launcher} db stop stops it.`,
    `For your own account: ${launcher} init, then ${launcher} sync.`,
  ]
}

import type { Kysely } from 'kysely'
import { outcomeJson } from '../app/outcome.ts'
import { readDataDir, readSettings } from '../config.ts'
import { publishBi } from '../bi/publish/publish-bi.ts'
import { describeTarget } from '../store/database-url.ts'
import type { Database } from '../store/database.ts'
import { startEmbedded } from '../store/embedded.ts'
import { migrateUp } from '../store/migrate.ts'
import { openDatabase } from '../store/pool.ts'
import { withFreshDatabase } from '../store/create-database.ts'
import { runQuery } from '../store/run-query.ts'
import type { CliContext } from './command.ts'
import { fillDemo, type FilledDemo, type TableComparison } from './demo/fill-demo.ts'
import { exitCodeOfStatus } from './failure.ts'
import { JSON_OF_RUN, readInteger } from './flags.ts'
import { formatTable, type TableCell } from './format.ts'
import { summarize } from './summary.ts'
import { defineCommand } from './usage.ts'

const DATABASE = 'livehouse_demo'

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
      channels: readInteger('--channels', values.channels, refuse, 1000) ?? 5,
      viewers: readInteger('--viewers', values.viewers, refuse, 1_000_000) ?? 2000,
      days: readInteger('--days', values.days, refuse, 3650) ?? 30,
      seed: readInteger('--seed', values.seed, refuse, 4_294_967_295) ?? 1,
    },
  }),
  async (context, { size, isJson }) => {
    const dataDir = readSettings(context.environment, readDataDir)
    const { clock, signal, remark, addSecret } = context
    const server = await startEmbedded(dataDir, clock, signal)
    const url = server.url(DATABASE)
    addSecret(decodeURIComponent(new URL(url).password))
    remark(`PostgreSQL  ${describeTarget(url)} (the embedded one in ${dataDir})`)
    const onWait = () => remark('another demo is running; this one begins when it has ended')
    try {
      const fresh = { adminUrl: server.url('postgres'), name: DATABASE, clock, signal, onWait }
      return await withFreshDatabase(fresh, async () => {
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

/** What landed beside what the service has. */
function describeTables(tables: readonly TableComparison[]): string[] {
  const rows = tables.map(({ table, landed, expected }) => [
    `livehouse.${table}`,
    landed.toLocaleString('en-US'),
    expected.toLocaleString('en-US'),
    landed === expected ? '✓' : '✗',
  ])
  return formatTable(['table', 'rows', 'at the source', ''], rows)
}

/** The ready queries, each with the answer that the tables give now. */
async function answerQueries(db: Kysely<Database>): Promise<string[]> {
  const answers = await Promise.all(
    readyQueries.map(async ({ title, text }) => [
      title,
      '',
      ...indent(`${text};`),
      '',
      ...(await answer(db, text)),
      '',
    ]),
  )
  return answers.flat()
}

async function answer(db: Kysely<Database>, text: string): Promise<string[]> {
  const rows = await runQuery(db, text)
  const columns = Object.keys(rows[0] ?? {})
  if (columns.length === 0) return ['  (no rows)']
  return indent(
    formatTable(
      columns,
      rows.map((row) => columns.map((column) => cellOf(row[column]))),
    ).join('\n'),
  )
}

function cellOf(value: unknown): TableCell {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
  return isPlain ? value : JSON.stringify(value)
}

function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`)
}

/** How psql and BI tools reach the demo's database. @param url of it; its password is not shown */
function describeConnection(url: string, dataDir: string): string[] {
  const { hostname, port, username, pathname } = new URL(url)
  const database = pathname.slice(1)
  return [
    'Connect with psql, or with any BI tool that speaks PostgreSQL',
    '',
    `  npx livehouse db psql --database ${database}`,
    `  npx livehouse db url --database ${database}     the whole URL, with the password`,
    '',
    `  host ${hostname}   port ${port}   user ${username}   database ${database}   no TLS`,
    '',
    `It is the PostgreSQL in ${dataDir}, and it goes on running: npx livehouse db stop ends it.`,
    'The next demo starts from an empty database again. For your own account: fill in .env (see .env.example), then',
    'npx livehouse sync.',
  ]
}

/** A question that an analyst asks, and the SQL that answers it. */
interface ReadyQuery {
  readonly title: string
  /** Ready to be pasted into psql; its answer is at most a dozen short lines. */
  readonly text: string
}

/** What the demo answers from its tables. Days are those of the service, which the emulator has in Asia/Shanghai. */
const readyQueries: readonly ReadyQuery[] = [
  {
    title: 'Watch time per day',
    text: `select (entered_at at time zone 'Asia/Shanghai')::date as day,
       count(distinct user_id) as viewers, count(*) as visits,
       round(sum(watch_seconds) / 3600.0, 1) as hours_watched,
       round(avg(watch_seconds) / 60.0, 1) as minutes_a_visit
from livehouse.watch_records
group by day order by day desc limit 7`,
  },
  {
    title: 'Channels by hours watched',
    text: `select coalesce(c.name, c.channel_id) as channel, count(*) as viewers,
       round(sum(v.watch_seconds) / 3600.0) as hours_watched,
       round(100.0 * sum(v.live_seconds) / nullif(sum(v.watch_seconds), 0)) as live_percent,
       round(avg(v.visit_count), 1) as visits_a_viewer
from livehouse.visitors v join livehouse.channels c using (channel_id)
group by c.channel_id order by hours_watched desc limit 10`,
  },
  {
    title: 'Where the new viewers of the last 7 days came from',
    text: `select coalesce(access_source, '(unknown)') as source, count(*) as new_viewers,
       count(*) filter (where phone is not null) as with_phone
from livehouse.visitors
where first_login_at > now() - interval '7 days'
group by source order by new_viewers desc limit 8`,
  },
  {
    title: 'Gifts by channel and type',
    text: `select coalesce(c.name, c.channel_id) as channel, g.gift_type, count(*) as gifts, sum(g.amount) as amount
from livehouse.gifts g join livehouse.channels c using (channel_id)
group by c.channel_id, g.gift_type order by channel, g.gift_type limit 12`,
  },
  {
    title: 'Signup answers',
    text: `select q.name as questionnaire, a.question_no as no, left(a.question, 20) as question, left(a.answer, 20) as answer,
       count(*) as signups
from livehouse.signup_answers a join livehouse.questionnaires q using (channel_id, question_id)
where a.answer is not null
group by 1, 2, 3, 4 order by signups desc, 1, 2, 4 limit 10`,
  },
]

import { type Kysely, sql } from 'kysely'
import { publishBi } from '../src/bi/publish/publish-bi.ts'
import { refreshFigures } from '../src/bi/publish/refresh-figures.ts'
import { systemClock } from '../src/core/clock.ts'
import type { Database } from '../src/store/database.ts'
import { migrateUp } from '../src/store/migrate.ts'
import { readTreeCpuUs } from './lib/process-tree.mts'
import { withScratchDatabase } from './lib/scratch-database.mts'

/**
 * `npm run bench:bi -- 10000000` measures the views as `livehouse_analyst`, compared with counting the table, on that
 * many watch records (default ten million) with all figures stored. Prints the backend's CPU time, without parallel
 * workers, and the wall time. Add `years` for the questions over years only. Its PostgreSQL is removed at the end.
 */

const RECORDS = Number(process.argv[2] ?? 10_000_000)
const CHANNELS = 100
const VIEWERS = RECORDS / 10
const DAYS = 1000
/** The first day; the last one is yesterday. */
const START = new Date(systemClock.now() - DAYS * 86_400_000).toISOString().slice(0, 10)
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))

/** Statements that write the evenings of each channel, by day and then by channel, as nightly syncs leave them. */
const fillings: readonly string[] = [
  `insert into livehouse.channels (channel_id, name, run_id) select c, 'channel ' || c, 1 from generate_series(1, ${CHANNELS}) c`,
  `insert into livehouse.watch_records (channel_id, record_id, user_id, nickname, address, phone, device, browser, access_source,
    online_seconds, watch_seconds, live_seconds, vod_seconds, entered_at, left_at, api_version, run_id)
  select (n % ${RECORDS / DAYS} * ${CHANNELS} / ${RECORDS / DAYS} + 1)::text, n, 'u' || (n * 7919 % ${VIEWERS}) / ${CHANNELS}, '浙江省网友', (array['浙江杭州', '上海', '广东广州', '内蒙古呼和浩特', '美国加利福尼亚'])[n % 5 + 1],
    case when (n * 7919 % ${VIEWERS}) / ${CHANNELS} % 3 = 0 then '138' || lpad(((n * 7919 % ${VIEWERS}) / ${CHANNELS} * 10007 % 100000000)::text, 8, '0') end,
    '移动端', '微信', '直接访问', stay, stay * 9 / 10, stay * 6 / 10, stay * 3 / 10, at, at + make_interval(secs => stay), 2, 1
  from generate_series(0::bigint, ${RECORDS - 1}) n, lateral (select 60 + (n * 104729 % 7200)::int as stay,
    timestamptz '${START} 11:00Z' + make_interval(days => (n * ${DAYS} / ${RECORDS})::int, secs => (n * 1299709 % 18000)::int) as at) x`,
  `insert into livehouse.visitors (channel_id, user_id, assign_id, outer_id, nickname, address, phone, visit_count, watch_seconds,
    live_seconds, vod_seconds, online_seconds, first_login_at, last_online_at, run_id)
  select channel_id, user_id, case when right(user_id, 1) = '1' then 'emp-' || user_id end, case when right(user_id, 1) = '2' then 'crm_' || user_id end,
    min(nickname), min(address), min(phone), count(*), sum(watch_seconds), sum(live_seconds), sum(vod_seconds), sum(online_seconds),
    min(entered_at), max(left_at), 1
  from livehouse.watch_records group by channel_id, user_id`,
  `insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, gift_id, visitor_id, phone, amount, occurrence, run_id)
  select channel_id, case record_id % 3 when 0 then 'cash' else 'prop' end, record_id, entered_at, record_id % 7, case record_id % 2 when 0 then user_id end, phone,
    record_id % 100, 1, 1
  from livehouse.watch_records where record_id % 20 < 3`,
  `insert into livehouse.questionnaires (channel_id, question_id, name, run_id) select c, 'q', 'signup', 1 from generate_series(1, ${CHANNELS}) c`,
  `insert into livehouse.signups (channel_id, question_id, signup_key, user_id, phone, signed_up_at, answers, occurrence, run_id)
  select channel_id, 'q', md5(user_id), user_id, phone, first_login_at, '[{"question": "a", "answer": "b"}]', 1, 1
  from livehouse.visitors where right(user_id, 1) in ('3', '4', '5')`,
  `insert into livehouse.signup_answers (channel_id, question_id, signup_key, question_no, question, answer, run_id)
  select channel_id, question_id, signup_key, no, 'question ' || no, case when no % 2 = 0 then 'a||b' else 'free text' end, 1
  from livehouse.signups, generate_series(1, 5) no`,
  `insert into livehouse.manager_usage (manager_id, snapshot_date, username, limit_type, cost_total_watch, run_id)
  select m, date '${START}' + d, m, 1, d * 100, 1 from generate_series(1, 100) m, generate_series(0, ${DAYS - 1}) d`,
  `insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, status, proof, distinct_rows, quarantined_rows, calls,
    retries, started_at, finished_at)
  select (select max(run_id) from livehouse_ops.runs), stream, 'channel=' || c || part, r, r, r, 'landed', 'verified', 1, 0, 1, 0, now(), now()
  from generate_series(1, ${CHANNELS}) c, (values ('watch_records', ''), ('gifts', '/type=cash'), ('gifts', '/type=prop'), ('signups', '/question=q')) s (stream, part),
    generate_series(0, ${DAYS - 1}, 10) d, lateral (select tsrange(timestamp '${START}' + make_interval(days => d), timestamp '${START}' + make_interval(days => d + 10)) as r) x`,
]

/** Statements of a night that changes something in each channel. */
const night: readonly string[] = [
  `update livehouse.watch_records set run_id = 1, watch_seconds = watch_seconds - 1 where record_id >= ${RECORDS - CHANNELS}`,
  `update livehouse.visitors set watch_seconds = watch_seconds - 1 where user_id = 'u1'`,
]

const month = 'day between current_date - 100 and current_date - 71'

/** Questions over years. The goal is two seconds for each. */
const yearly: readonly string[] = [
  'select * from livehouse_bi.fct_watch order by entered_at desc limit 100',
  'select day, count(*), sum(watch_hours) from livehouse_bi.fct_watch where day >= current_date - 30 group by day',
  `select day, count(*), sum(watch_hours) from livehouse_bi.fct_watch where day >= current_date - interval '30 days' group by day`,
  `select day, count(*), sum(watch_hours) from livehouse_bi.fct_watch where date_trunc('day', day) >= date_trunc('day', now()) - interval '30 days' group by day`,
  'select * from livehouse_bi.daily_channel where day >= current_date - 365',
  `select channel_id, day, viewers from livehouse_bi.fct_broadcast where ${month}`,
  `select * from livehouse_bi.fct_broadcast where ${month}`,
  'select count(distinct viewer_key) from livehouse_bi.fct_viewer_day where day >= current_date - 365',
  `select sum(viewers) from livehouse_bi.viewer_return_month, date_trunc('month', current_date - 365) a
   where month_start >= a and (previous_month is null or previous_month < a)`,
  'select * from livehouse_bi.viewer_cohort_week',
  'select * from livehouse_bi.viewer_funnel',
  'select * from livehouse_bi.dim_person order by watch_seconds desc limit 20',
  'select * from livehouse_bi.reconciliation',
]

/** What BI tools ask for: everything, a month, a month of one channel. */
const questions: readonly string[] = [
  ...yearly,
  ...[
    'dim_channel',
    'dim_viewer',
    'dim_person',
    'dim_gift',
    'fct_watch',
    'fct_viewer_day',
    'fct_gift',
    'fct_signup',
    'fct_signup_answer',
  ].map((view) => `select count(*) from livehouse_bi.${view}`),
  'select count(*) from livehouse_bi.fct_signup_choice',
  'select sum(watch_minutes_delta) from livehouse_bi.fct_manager_usage',
  'select count(distinct phone), count(distinct province) from livehouse_bi.dim_viewer',
  `select * from livehouse_bi.dim_viewer where channel_id = '7' and user_id = 'u42'`,
  `select day, count(*), sum(watch_hours) from livehouse_bi.fct_watch where ${month} group by day`,
  `select day, count(*), sum(watch_hours) from livehouse_bi.fct_watch where ${month} and channel_id = '7' group by day`,
  `select province, count(*) from livehouse_bi.fct_watch where ${month} group by province`,
  `select count(distinct viewer_key) from livehouse_bi.fct_viewer_day`,
  `select count(distinct viewer_key), count(distinct person_key) from livehouse_bi.fct_viewer_day where ${month}`,
  `select match_basis, sum(cash_amount), sum(prop_amount) from livehouse_bi.fct_gift where ${month} group by match_basis`,
  `select match_basis, count(distinct person_key) from livehouse_bi.fct_gift group by match_basis`,
  `select question, count(*) from livehouse_bi.fct_signup_answer where channel_id = '7' group by question`,
  `select max(estimated_live_viewers) from livehouse_bi.fct_audience_minute where channel_id = '7' and day = current_date - 90`,
  `select day, max(estimated_live_viewers) from livehouse_bi.fct_audience_minute where ${month} group by day`,
  `select day, sum(viewers), sum(watch_hours) from livehouse_bi.daily_channel where ${month} group by day`,
  `select day, sum(visits), bool_and(is_complete) from livehouse_bi.daily_channel group by day`,
  `select * from livehouse_bi.daily_channel where ${month}`,
  `select * from livehouse_bi.daily_channel where ${month} and channel_id = '7'`,
  'select max(estimated_peak_viewers) from livehouse_bi.daily_channel',
  `select t.channel_title, d.month_start, sum(f.watch_hours) from livehouse_bi.fct_watch f join livehouse_bi.dim_channel t using (channel_id)
   join livehouse_bi.dim_date d using (day) where d.day >= current_date - 365 group by 1, 2`,
  `select v.province, sum(f.watch_hours) from livehouse_bi.fct_watch f join livehouse_bi.dim_viewer v using (viewer_key) where f.${month} group by 1`,
  'select * from livehouse_bi.viewer_funnel_month',
  'select count(*) from livehouse_bi.identity_conflicts',
  `select * from livehouse_bi.fct_broadcast where ${month} and channel_id = '7'`,
  `select count(*), avg(retention) from livehouse_bi.fct_broadcast_minute where ${month} and channel_id = '7'`,
  `select count(*), sum(cash_amount) from livehouse_bi.fct_broadcast_viewer where ${month} and channel_id = '7'`,
  'select * from livehouse_bi.freshness',
]

interface Time {
  readonly cpu: number
  readonly wall: number
}

/** In milliseconds, CPU time in steps of ten. The CPU time is only the backend's, which starts no processes. */
async function timeOf(db: Kysely<Database>, question: string, role = 'livehouse_analyst'): Promise<Time> {
  stop.signal.throwIfAborted()
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid, set_config('role', ${role}, true),
      set_config('max_parallel_workers_per_gather', '0', true)`.execute(transaction)
    const cpuUs = async () => (await readTreeCpuUs(rows[0]?.pid ?? 0)) ?? Number.NaN
    const [startedAt, before] = [systemClock.now(), await cpuUs()]
    await sql.raw(question).execute(transaction)
    return { cpu: ((await cpuUs()) - before) / 1000, wall: systemClock.now() - startedAt }
  })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function bench(db: Kysely<Database>): Promise<void> {
  await migrateUp(db)
  await sql`insert into livehouse_ops.runs (command, status, settings, started_at) values ('bench', 'ok', '{}', now())`.execute(
    db,
  )
  for (const filling of fillings) await sql.raw(filling).execute(db)
  const reportTime = async (what: string, work: Promise<unknown>): Promise<void> => {
    const startedAt = systemClock.now()
    await work
    say(`${systemClock.now() - startedAt} ms ${what}`)
  }
  await reportTime('to publish the views and build the indexes on days', publishBi(db))
  await reportTime('to compute and store the days and figures of channels', refreshFigures(db))
  await sql`vacuum (analyze)`.execute(db)
  for (const change of night) await sql.raw(change).execute(db)
  await reportTime('to refresh them after a night in which something changed in each channel', refreshFigures(db))
  const plain = 'select count(left_at) from livehouse.watch_records'
  say('  cpu ms  wall ms  times the plain count')
  for (const question of process.argv[3] === 'years' ? yearly : questions) {
    // Counts the table right before each question, because the machine may be busier a minute later.
    const { wall: plainMs } = await timeOf(db, plain, 'none')
    await timeOf(db, question)
    const { cpu, wall } = await timeOf(db, question)
    const shown = [cpu.toFixed(0).padStart(8), String(wall).padStart(7), (wall / plainMs).toFixed(2).padStart(6)]
    say(`${shown.join('  ')}  ${question.replaceAll(/\s+/g, ' ')}`)
  }
}

await withScratchDatabase(stop.signal, bench)

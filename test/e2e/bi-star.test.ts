import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { groupPersons } from '../../src/bi/publish/group-persons.ts'
import { biViews } from '../../src/bi/registry.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { forgetCoverage } from '../../src/ledger/slices/forget-coverage.ts'
import { runQuery } from '../../src/store/pool.ts'
import { ofFile } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import { startFilled } from '../helpers/start-filled.ts'

const account = ofFile(startFilled)
const read = async (text: string) => await runQuery(account.database.db, text)

/** The visitor list has none of these ids. */
const strangers = [
  `insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, watch_seconds, api_version, run_id)
   values ('9', 1, 'stranger', now(), 60, 1, 1), ('9', 2, null, now(), 60, 2, 1), ('9', 3, null, null, 60, 2, 1)`,
  `insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, gift_id, visitor_id, occurrence, run_id)
   values ('9', 'cash', 'a', now(), null, 'giver', 1, 1), ('9', 'cash', 'b', null, 27, null, 1, 1)`,
  `insert into livehouse.signups (channel_id, question_id, signup_key, user_id, occurrence, run_id) values ('9', 'q', 'c', 'asker', 1, 1)`,
  `insert into livehouse.channels (channel_id, run_id) values ('9', 1)`,
  `insert into livehouse.questionnaires (channel_id, question_id, run_id) values ('9', 'q', 1)`,
  `insert into livehouse_ops.gift_labels (gift_type, gift_id, label) values ('prop', 999, 'never given'), ('cash', 27, 'tip')`,
]

test('keys are unique and the references of facts resolve, even for viewers not in the visitor list', async () => {
  for (const statement of strangers) await read(statement)
  for (const { name, key } of biViews) {
    const columns = key.join(', ')
    const duplicates = `select ${columns} from livehouse_bi.${name} group by ${columns} having count(*) > 1`
    expect(await read(duplicates), name).toEqual([])
  }
  let references = 0
  for (const column of ['channel_id', 'viewer_key', 'person_key', 'gift_key', 'questionnaire_key', 'day']) {
    const target = column === 'day' ? 'dim_date' : `dim_${column.replace(/_(id|key)$/, '')}`
    for (const { name } of biViews.filter(({ columns, ...view }) => column in columns && view.name !== target)) {
      const dangling = await read(`select f.${column} from livehouse_bi.${name} f
        where f.${column} is not null and not exists (select from livehouse_bi.${target} d where d.${column} = f.${column})`)
      expect(dangling, `${name}.${column} → ${target}`).toEqual([])
      references++
    }
  }
  expect(references).toBeGreaterThan(25)
  const viewers = await read(`select user_id, is_listed from livehouse_bi.dim_viewer where channel_id = '9' order by 1`)
  expect(viewers).toEqual(['asker', 'giver', 'stranger'].map((user_id) => ({ user_id, is_listed: false })))
  const gifts = await read(`select gift_title from livehouse_bi.dim_gift where gift_id in (27, 999) order by 1`)
  expect(gifts).toEqual([{ gift_title: 'never given' }, { gift_title: 'tip' }])
  const hashed = `select gift_event_key as key from livehouse_bi.fct_gift where channel_id = '9' and given_at is null`
  expect(await read(hashed), 'not the plain hash').toEqual([{ key: expect.stringMatching(/^[0-9a-f]{32}$/) }])
})

test("an analyst gets an answer to each Grafana query, for the service's days within the time range", async () => {
  const textOf = (path: string) => readFileSync(join(import.meta.dirname, '../../docs', path), 'utf8')
  const { panels, templating } = JSON.parse(textOf('examples/grafana-channels.json'))
  const panelQueries = panels.map((panel: { targets: readonly [{ rawSql: string }] }) => panel.targets[0].rawSql)
  const [example] = /^select[^;`]*timeFrom[^`]*/m.exec(textOf('bi-tools.md')) ?? []
  const texts: readonly string[] = [templating.list[1].query, ...panelQueries, example]
  const channels = await read(`select quote_literal(channel_id) as id from livehouse.channels where channel_id <> '9'`)
  await using analyst = await openAs('livehouse_analyst', account.database)
  const ask = async (no: number, from: string, to: string) => {
    const query = texts[no]?.replaceAll('$__timeFrom()', `'${from}'`).replaceAll('$__timeTo()', `'${to}'`) ?? ''
    return await runQuery(analyst.db, query.replaceAll('$channel', channels.map(({ id }) => id).join(',')))
  }
  // A visit of long ago, after which nobody came back for weeks.
  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, api_version, run_id)
    select min(channel_id), 0, 'once', '2026-09-09 10:00+08', 2, 1 from livehouse.visitors`)
  const answers = await Promise.all(texts.map((_, no) => ask(no, '2026-08-20T00:00:00Z', '2026-11-21T00:00:00Z')))
  await read(`delete from livehouse.watch_records where record_id = 0`)
  for (const [no, rows] of answers.entries()) expect(rows.length, texts[no]).toBeGreaterThan(0)
  expect(Object.values(answers[12]?.at(-1) ?? {}).join(' ')).toBe('2026-09-07 1 0 0 0')
  // Viewers of the last but one week came back, but their next week has not been read completely.
  expect(answers[12]?.slice(0, 2).map(({ week_1 }) => week_1)).toEqual([null, null])
  // The world has been read up to the afternoon of the first of these days.
  const over = `livehouse_bi.dim_date where is_past and day in ('2026-11-20', '2026-11-21')`
  expect(answers[5]).toEqual(await read(`select count(*) * ${channels.length} as value from ${over}`))

  // "Yesterday" in Shanghai, as Grafana passes it.
  const onDay = async (no: number) => await ask(no, '2026-11-18T16:00:00Z', '2026-11-19T15:59:59.999Z')
  const times = await Promise.all([6, 7, 8, 9, 14].map(async (no) => (await onDay(no)).map(({ time }) => Number(time))))
  for (const each of times) expect(new Set(each)).toEqual(new Set([Date.parse('2026-11-18T16:00:00Z')]))
  const sums = `sum(new_viewers) as a, sum(watch_hours) as b, sum(cash_amount) as c from livehouse_bi.daily_channel where day = '2026-11-19' and channel_id <> '9'`
  const broadcasts = `select count(*) from livehouse_bi.fct_broadcast where day = '2026-11-19'`
  const [day = {}] = await read(`select (${broadcasts}), ${sums}`)
  for (const [no, value] of Object.values(day).entries()) expect(await onDay(no + 1)).toEqual([{ value }])
  expect((await onDay(10))[0]?.started).toBeInstanceOf(Date)
})

test('removed gifts are left out, and removed viewers stay and are marked', async () => {
  const daily = 'select sum(coalesce(cash_gifts, 0) + coalesce(prop_gifts, 0)) from livehouse_bi.daily_channel'
  const count = `select (select count(*) from livehouse_bi.fct_gift) as gifts, (${daily}) as daily,
    count(*) as viewers, count(*) filter (where is_removed) as removed from livehouse_bi.dim_viewer`
  const [before] = await read(count)
  expect(Number(before?.gifts)).toBeGreaterThan(2)
  await read(`update livehouse.gifts set removed_at = now() where channel_id <> '9';
    update livehouse.visitors set removed_at = now() where user_id = (select min(user_id) from livehouse.visitors)`)
  expect(await read(count)).toEqual([{ ...before, gifts: '2', daily: '1', removed: expect.stringMatching(/^[12]$/) }])
  await read('update livehouse.gifts set removed_at = null; update livehouse.visitors set removed_at = null')
})

test('a day is complete when it has been read fully, and final when two late enough readings agree', async () => {
  const flags = async () =>
    await read(`select day::text, bool_and(is_watch_complete) as watch, bool_and(is_complete) as complete, bool_and(is_final) as final
      from livehouse_bi.daily_channel where day in ('2026-11-10', '2026-11-11', '2026-11-19', '2026-11-20') and channel_id <> '9' group by day order by day`)
  const whole = { watch: true, complete: true, final: true }
  // Gifts have no total, so one reading proves nothing yet.
  expect((await flags())[0]).toEqual({ day: '2026-11-10', ...whole, final: false })
  // A questionnaire may have been created since its list was read.
  await read(`update livehouse_ops.partition_states set walked_at = '2026-11-19' where stream = 'questionnaires'`)
  expect((await flags())[2]).toEqual({ day: '2026-11-19', watch: true, complete: false, final: false })
  account.clock.nowMs += 60_000
  await account.sync()
  // Channel 9 is not configured, so the sync has retired it.
  await read(`update livehouse.channels set state = 'active' where channel_id = '9'`)
  expect(await flags()).toEqual([
    { day: '2026-11-10', ...whole },
    { day: '2026-11-11', ...whole },
    { day: '2026-11-19', ...whole, final: false },
    { day: '2026-11-20', watch: false, complete: false, final: false },
  ])
  const window = { from: parseWallTime('2026-11-11 10:00:00') ?? 0, to: parseWallTime('2026-11-11 10:01:00') ?? 0 }
  await forgetCoverage(account.database.db, { streams: ['watch_records'], channels: undefined, window })
  expect((await flags())[1]).toEqual({ day: '2026-11-11', watch: false, complete: false, final: false })
  expect((await flags())[0]).toEqual({ day: '2026-11-10', ...whole })
  const freshness = `select distinct complete_through::text as day, gap_count, covered_until::text
    from livehouse_bi.freshness where stream = 'watch_records' and channel_id <> '9' order by 1`
  expect(await read(freshness)).toEqual([{ day: '2026-11-10', gap_count: '1', covered_until: '2026-11-20 15:26:00' }])
  await read(`update livehouse.channels set read_until = '2026-11-10' where channel_id < '10001600'`)
  expect((await read(freshness)).map(({ day }) => String(day) > '2026-11-10')).toEqual([false, true])

  // Both gift types have to be covered.
  const giftFlags = `select distinct is_gift_complete from livehouse_bi.daily_channel where day = '2026-11-10' and channel_id <> '9'`
  expect(await read(giftFlags)).toEqual([{ is_gift_complete: true }])
  await read(`delete from livehouse_ops.slices where partition like '%/type=cash'
    or partition in (select max(partition) from livehouse_ops.latest_readings where stream = 'signups'
      group by channel_id)`)
  expect(await read(giftFlags)).toEqual([{ is_gift_complete: false }])
  await read(`update livehouse.channels set state = 'retired', read_until = null`)
  const covered = `select stream from livehouse_bi.freshness
    where stream in ('gifts', 'signups') and (is_proven or complete_through is not null)`
  expect(await read(covered)).toEqual([])
})

test('a gift with only a phone belongs to the viewer or person with that phone, if there is only one', async () => {
  await read(`insert into livehouse.visitors (channel_id, user_id, outer_id, phone, run_id) values
    ('8', 'a', null, '13000000001', 1), ('8', 'b', 'one', '13000000002', 1), ('8', 'c', 'one', '+86 130-0000-0002', 1),
    ('8', 'd', 'two', '13000000003', 1), ('8', 'e', 'three', '13000000003', 1), ('9', 'f', 'four', '13000000004', 1), ('8', 'g', null, '130****0005', 1)`)
  await groupPersons(account.database.db)
  const phones = `'13000000001', '13000000002', '13000000003', '13000000004', '130****0005', null`
  await read(`insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, phone, occurrence, run_id)
    select '8', 'prop', no, now(), phone, 1, 1 from unnest(array[${phones}]) with ordinality p (phone, no)`)
  const rows = await read(`select viewer_key as viewer, left(person_key, 12) as person, match_basis as basis
    from livehouse_bi.fct_gift where channel_id = '8' order by gift_event_key`)
  expect(rows).toEqual([
    { viewer: '8:a', person: expect.stringMatching(/^phone:\w{6}$/), basis: 'phone' },
    { viewer: null, person: 'outer_id:one', basis: 'phone_person' },
    { viewer: null, person: 'outer_id:thr', basis: 'phone_person' },
    { viewer: null, person: 'outer_id:fou', basis: 'phone_person' },
    { viewer: null, person: null, basis: 'none' },
    { viewer: null, person: null, basis: 'none' },
  ])
})

test("a manager's usage shows how much it grew, and over how many days", async () => {
  await read(`delete from livehouse.manager_usage`)
  await read(`insert into livehouse.manager_usage (manager_id, snapshot_date, limit_type, cost_limit, cost_total_watch, run_id) values
    (1, '2026-11-01', 1, 0, 100, 1), (1, '2026-11-02', 1, 0, 130, 1), (1, '2026-11-05', 1, 0, 160, 1), (1, '2026-11-06', 1, 500, 10, 1),
    (1, '2026-11-07', 1, 500, null, 1), (1, '2026-11-08', 1, 500, 30, 1), (1, '2026-11-09', 1, 500, null, 1), (1, '2026-11-10', 1, 500, 5, 1)`)
  const rows = await read(`select right(day::text, 2), watch_minutes_delta::integer as delta, days_since_previous,
      is_gap, is_complete, is_reset, is_unlimited, limit_unit from livehouse_bi.fct_manager_usage order by day`)
  expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
    '01   false false false true minutes',
    '02 30 1 false true false true minutes',
    '05 30 3 true false false true minutes',
    '06 10 1 false true true false minutes',
    '07  1 false false false false minutes',
    '08 20 1 false false false false minutes',
    '09  1 false false false false minutes',
    '10 5 1 false false true false minutes',
  ])
  // The service reports traffic only while it is what limits the account.
  await read(`insert into livehouse.manager_usage (manager_id, snapshot_date, limit_type, cost_transfer, run_id) values
    (2, '2026-11-01', 2, 10, 1), (2, '2026-11-02', 2, 11, 1), (2, '2026-11-03', 1, null, 1),
    (2, '2026-11-04', 2, null, 1), (2, '2026-11-05', null, null, 1), (2, '2026-11-06', 1, 15, 1), (2, '2026-11-07', 2, 16, 1)`)
  const complete = `select is_complete as is from livehouse_bi.fct_manager_usage where manager_id = 2 order by day`
  expect((await read(complete)).map(({ is }) => is)).toEqual([false, true, true, false, false, true, true])
  await read(`delete from livehouse.manager_usage where snapshot_date = '2026-11-10'`)
  const totals = `select left_value from livehouse_bi.reconciliation where check_name = 'account_watch_minutes'`
  expect((await read(totals)).map(({ left_value }) => Number(left_value))).toEqual([30])
})

test('a difference between two figures of the source is shown, with the number of viewers it affects', async () => {
  await read(`update livehouse.visitors set watch_seconds = watch_seconds + 7
    where (channel_id, user_id) = (select channel_id, user_id from livehouse.visitors order by 1, 2 limit 1)`)
  const rows = await read(`select check_name, difference::integer, differing_viewers::integer as viewers
    from livehouse_bi.reconciliation where not is_equal and channel_id is not null`)
  expect(rows).toEqual([{ check_name: 'viewer_watch_seconds', difference: 7, viewers: 1 }])
})

test('a funnel step has no viewer count where fewer than 80 % of its records could be matched', async () => {
  await read(`insert into livehouse.channels (channel_id, run_id) values ('7', 1);
    insert into livehouse.visitors (channel_id, user_id, run_id) select '7', 'giver ' || n, 1 from generate_series(0, 3) n;
    insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, visitor_id, occurrence, run_id)
    select '7', 'prop', number, '2026-11-15', case when number < 8 then 'giver ' || number % 4 end, 1, 1 from generate_series(0, 9) number`)
  const givers = async () =>
    await read(`select viewers::integer, events::integer, unmatched_events::integer as unmatched
      from livehouse_bi.viewer_funnel where channel_id = '7' and step = 'gave_gift'`)
  expect(await givers()).toEqual([{ viewers: 4, events: 10, unmatched: 2 }])
  await read(`update livehouse.gifts set visitor_id = null where channel_id = '7' and gift_key = '0'`)
  expect(await givers()).toEqual([{ viewers: null, events: 10, unmatched: 3 }])

  // Visits show who watched. Most of these name nobody; then only one in forty does not.
  const month = async (visits: number, named: number) => {
    await read(`delete from livehouse.watch_records where channel_id = '7';
      insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, watch_seconds, api_version, run_id)
      select '7', n, case when n <= ${named} then 'giver ' || n % 4 end, '2026-11-15', 600, 2, 1 from generate_series(1, ${visits}) n`)
    const rows = await read(`select viewers, events, unmatched_events from livehouse_bi.viewer_funnel_month
      where channel_id = '7' and step in ('visited', 'watched') order by step_no`)
    return rows.map((row) => Object.values(row).join(' '))
  }
  expect(await month(100, 10)).toEqual([' 100 90', ' 4 0'])
  expect(await month(40, 39)).toEqual(['4 40 1', '4 4 0'])
})

import { expect, test } from 'vitest'
import { forms } from '../../src/cli/forms.ts'
import { runQuery } from '../../src/store/pool.ts'
import { ofTest } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'

const database = ofTest(createTestDatabase)
const read = async (text: string) => await runQuery(database.db, text)

const readChannel = (id: string) => `insert into livehouse.channels (channel_id, run_id) values ('${id}', 1);
  insert into livehouse_ops.partition_states (stream, partition, is_windowed, covers, latest_slice_id)
    values ('watch_records', 'channel=${id}', true, '{(,)}', 1)`

const exampleRows = [
  `insert into livehouse.channels (channel_id, run_id) values ('5', 1)`,
  `insert into livehouse.visitors (channel_id, user_id, first_login_at, run_id) values
    ('5', 'a', '2026-11-01 20:00:05+08', 1), ('5', 'b', '2026-10-01 20:00+08', 1), ('5', 'c', '2026-11-01 20:20+08', 1)`,
  `insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, vod_seconds, device, access_source,
      address, api_version, run_id)
    select '5', no, user_id, at, at + make_interval(secs => stay), stay, live, stay - live, 'phone', 'a.example?name=' || user_id, '浙江杭州', 2, 1
    from (values (1, 'a', timestamptz '2026-11-01 20:00:05+08', 2400, 2400), (2, 'b', '2026-11-01 20:10+08', 1200, 1200), (3, 'c', '2026-11-01 20:20+08', 1810, 1800),
      (4, 'd', '2026-11-01 20:15:01+08', 600, 0), (5, 'a', '2026-11-01 21:10+08', 600, 600), (6, 'a', '2026-11-01 23:30+08', 300, 300),
      (7, 'b', '2026-11-02 23:50+08', 1200, 1200), (8, 'e', '2026-10-29 12:00+08', 432000, 432000), (9, 'e', '2026-10-30 10:00+08', 43200, 9000),
      (10, null, '2026-11-01 20:30+08', 300, null), (11, 'e', '2026-10-20 10:00+08', 0, 100), (12, 'e', '2026-10-20 10:15+08', 0, 100)) r (no, user_id, at, stay, live)`,
  `insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, visitor_id, amount, occurrence, run_id) values
    ('5', 'cash', 'g', '2026-11-01 20:30+08', 'a', 5, 1, 1), ('5', 'prop', 'h', '2026-11-01 21:20+08', 'a', 5, 1, 1)`,
  `insert into livehouse.signups (channel_id, question_id, signup_key, user_id, signed_up_at, answers, occurrence, run_id)
    values ('5', 'q', 's', 'b', '2026-11-01 20:05+08', '[]', 1, 1)`,
]

test('live visits with short pauses form a broadcast with minutes and viewers, whatever other days hold', async () => {
  const set = async (settings: Readonly<Record<string, string>>) => {
    const environment = { DATABASE_URL: database.url, ...settings }
    expect(await runVerb(forms, [], { environment })).toMatchObject({ code: 0 })
  }
  await set({ LIVEHOUSE_CURRENCY: 'CNY' })
  for (const statement of exampleRows) await read(statement)

  const broadcasts = () =>
    read('select broadcast_key, broadcast_seconds from livehouse_bi.fct_broadcast order by started_at')
  const both = [
    { broadcast_key: '5:20261101T2000', broadcast_seconds: '4795' },
    { broadcast_key: '5:20261102T2350', broadcast_seconds: '1200' },
  ]
  expect(await broadcasts()).toEqual(both)
  const first = `where broadcast_key = '5:20261101T2000'`
  const [broadcast = {}] = await read(`select day::text, ended_at_local::text as ended, visits, viewers, new_viewers,
    estimated_peak_live_viewers as peak, peak_at_local::text, average_stay_seconds, live_seconds, replay_seconds, cash_gifts, cash_amount,
    prop_gifts, signups, top_access_source, top_device, top_province, is_complete, is_test from livehouse_bi.fct_broadcast ${first}`)
  expect(Object.values(broadcast).join(', ')).toBe(
    '2026-11-01, 2026-11-01 21:20:00, 6, 4, 2, 3, 2026-11-01 20:20:00, 1653, 6000, 610, 1, 5.00, , 1, a.example, phone, 浙江, false, false',
  )
  const minutes = await read(`select minute_no, estimated_viewers, joins, leaves, retention
    from livehouse_bi.fct_broadcast_minute ${first} and minute_no in (0, 9, 19, 20, 40, 79) order by 1`)
  expect(minutes.map((row) => Object.values(row).join(' ')).join(', ')).toBe(
    '0 1 1 0 1, 9 1 1 0 1, 19 3 1 0 1, 20 4 0 0 1, 40 1 0 0 0, 79 1 0 0 0',
  )
  const viewers = await read(`select viewer_key as who, visits, stay_seconds as stay,
    round(share_of_broadcast::numeric, 3) as share, cash_amount as cash, prop_gifts as props, signups, is_new
    from livehouse_bi.fct_broadcast_viewer ${first} order by 1`)
  expect(viewers).toEqual([
    { who: '5:a', visits: '2', stay: '3000', share: '0.626', cash: '5.00', props: null, signups: null, is_new: true },
    { who: '5:b', visits: '1', stay: '1200', share: '0.250', cash: null, props: null, signups: '1', is_new: false },
    { who: '5:c', visits: '1', stay: '1810', share: '0.377', cash: null, props: null, signups: null, is_new: true },
    { who: '5:d', visits: '1', stay: '600', share: '0.125', cash: null, props: null, signups: null, is_new: null },
  ])
  // A figure without rows is NULL until its list has been read, and then 0.
  const otherFigures = `select broadcast_key, b.new_viewers, b.cash_gifts, b.cash_amount, b.prop_gifts, b.signups, d.is_new
    from livehouse_bi.fct_broadcast b left join livehouse_bi.fct_broadcast_viewer v using (broadcast_key)
    left join livehouse_bi.fct_viewer_day d on (d.viewer_key, d.day) = (v.viewer_key, v.day)
    where broadcast_key <> '5:20261101T2000'`
  const nothing = { new_viewers: null, cash_gifts: null, cash_amount: null, prop_gifts: null, signups: null }
  expect(await read(otherFigures)).toEqual([{ broadcast_key: '5:20261102T2350', ...nothing, is_new: false }])
  await read(`insert into livehouse_ops.partition_states (stream, partition, is_windowed, covers, walked_at, latest_slice_id)
    select stream, 'channel=5' || part, stream = 'gifts', '{[2026-11-01,)}', '2026-11-05', 1
    from (values ('visitors', ''), ('questionnaires', ''), ('watch_records', ''), ('gifts', '/type=cash'),
      ('gifts', '/type=prop')) v (stream, part)`)
  // Visits of the first broadcast may have begun on 31 October, which has not been read.
  const complete = await read('select is_complete from livehouse_bi.fct_broadcast order by started_at')
  expect(complete).toEqual([{ is_complete: false }, { is_complete: true }])
  const none = { new_viewers: '0', cash_gifts: '0', cash_amount: '0', prop_gifts: '0', signups: '0' }
  expect(await read(otherFigures)).toEqual([{ broadcast_key: '5:20261102T2350', ...none, is_new: false }])
  await read(`update livehouse_ops.partition_states set walked_at = '2026-11-02' where stream = 'questionnaires'`)
  expect(await read(otherFigures)).toMatchObject([{ ...none, signups: null }])
  await read(`update livehouse.gifts set amount = null`)
  expect(await read(`select cash_gifts, cash_amount, prop_amount from livehouse_bi.fct_broadcast ${first}`)).toEqual([
    { cash_gifts: '1', cash_amount: null, prop_amount: '0' },
  ])
  const unlisted = await read(`select v.is_new, d.is_new as of_day from livehouse_bi.fct_broadcast_viewer v
    join livehouse_bi.fct_viewer_day d using (viewer_key, day) ${first} and viewer_key = '5:d'`)
  expect(unlisted).toEqual([{ is_new: null, of_day: null }])

  // Of two visits that begin at the same time, the one with the smaller id is the first.
  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, device, api_version, run_id)
    select '5', no, 'f', '2026-11-01 20:30+08', '2026-11-01 20:31+08', 60, 60, device, 2, 1 from (values (21, 'tv'), (20, 'phone')) v (no, device)`)
  const deviceOf = `select device from livehouse_bi.fct_broadcast_viewer ${first} and viewer_key = '5:f'`
  expect(await read(deviceOf)).toEqual([{ device: 'phone' }])

  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, api_version, run_id)
    select '5', 100 + n, 'e', at, at + interval '1 hour', 3600, 3600, 2, 1
    from generate_series(timestamptz '2026-10-31 20:00+08', '2026-11-02 20:00+08', '2 days') with ordinality g (at, n)`)
  expect(await broadcasts()).toEqual(expect.arrayContaining(both))

  await set({ LIVEHOUSE_BROADCAST_GAP: '10', LIVEHOUSE_BROADCAST_MIN: '5' })
  expect((await broadcasts()).map((row) => row.broadcast_key)).toEqual(
    ['1031T2000', '1101T2000', '1101T2110', '1101T2330', '1102T2000', '1102T2350'].map((start) => `5:2026${start}`),
  )
})

test('a visit without an exit ends with its day, and one that ends before it begins counts nowhere', async () => {
  const readLines = async (text: string) => (await read(text)).map((row) => Object.values(row).join(' '))
  await read(`insert into livehouse.channels (channel_id, run_id) values ('6', 1);
    insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, api_version, run_id)
    values ('6', 1, 'a', '2026-11-10 23:50+08', null, 3600, 3600, 2, 1),
      ('6', 2, 'b', '2026-11-11 00:20+08', '2026-11-11 00:40+08', 1200, 1200, 2, 1),
      ('6', 3, 'c', '2026-11-12 20:00+08', '2026-11-12 19:00+08', 600, 600, 2, 1),
      ('6', 4, 'd', '2026-11-12 20:25+08', '2026-11-12 20:35+08', 600, 600, 2, 1),
      ('6', 5, 'e', '1970-01-01 00:00:30+08', '1970-01-01 00:01:10+08', 40, 40, 2, 1)`)
  const columns = 'broadcast_key, broadcast_seconds, estimated_peak_live_viewers'
  const broadcasts = await readLines(`select ${columns} from livehouse_bi.fct_broadcast`)
  expect(broadcasts).toEqual(['6:20261110T2350 3000 1', '6:20261112T2025 600 1'])
  const minutes = await readLines(`select day::text, min(minute_at_local)::time, max(estimated_all_viewers)
    from livehouse_bi.fct_audience_minute group by day order by day`)
  expect(minutes).toEqual([
    '1970-01-01 00:00:00 1',
    '2026-11-10 23:50:00 1',
    '2026-11-11 00:20:00 1',
    '2026-11-12 20:25:00 1',
  ])
})

test('a visit counts on each day until its online time or stay ends, and with others only in overlaps', async () => {
  await read(`${readChannel('8')};
    insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, api_version, run_id)
    select '8', row_number() over (), 'u', day + entered, day + gone, online, live, 2, 1
    from (select timestamptz '2026-11-01 00:00+08') d (day), (values
      (interval '10:00', interval '10:05', 120, 60),
      ('10:01', '10:05', 121, 0),
      ('10:02', '10:02', 600, 5),
      ('10:02', '10:09', 0, 5),
      ('10:03', null, 61, 5),
      ('11:00:01', '11:00:21', 20, 5),
      ('11:00:21', '11:00:40', 20, 5),
      ('11:00:41', '11:00:59', 18, 0),
      ('11:00:45', '11:00:45', 5, 0),
      ('20:00', '20:01', 60, null),
      ('23:58', '24:01', 3600, 5),
      ('23:59', '72:00', 259260, null)) r (entered, gone, online, live)`)
  const rows = await read(`select day::text, to_char(minute_at_local, 'HH24:MI') as minute,
    estimated_all_viewers::integer as all, estimated_live_viewers::integer as live
    from livehouse_bi.fct_audience_minute where channel_id = '8' order by minute_at`)
  const first = rows
    .filter(({ day }) => day === '2026-11-01')
    .map(({ minute, all, live }) => `${minute} ${all} ${live}`)
  expect(first.join(', ')).toBe(
    '10:00 1 1, 10:01 2 1, 10:02 2 1, 10:03 2 1, 10:04 1 1, 11:00 2 1, 20:00 1 null, 23:58 1 1, 23:59 2 1',
  )
  const perDay = Map.groupBy(rows, ({ day }) => day)
  const lengths = [...perDay].map(([day, minutes]) => `${String(day)} ${minutes.length}`)
  expect(lengths).toEqual(['2026-11-01 9', '2026-11-02 1440', '2026-11-03 1440', '2026-11-04 1'])
  expect(perDay.get('2026-11-02')?.[1]).toEqual({ day: '2026-11-02', minute: '00:01', all: 2, live: 1 })
  const peaks = await read(`select estimated_peak_viewers as all, estimated_peak_live_viewers as live
    from livehouse_bi.daily_channel where channel_id = '8' and day < '2026-11-03'`)
  const peak = { all: '2', live: '1' }
  expect(peaks).toEqual([peak, peak])
})

test('a peak is the largest minute of its day, however visits overlap, even across midnight', async () => {
  await read(readChannel('7'))
  // Visits in no order; some last over one or several midnights, some have no end or no length.
  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, api_version, run_id)
    select '7', n, 'u' || n % 37, at, case when n % 19 > 0 then at + make_interval(secs => n * 131 % 9000 + case n % 23 when 0 then 180000 else 0 end) end,
      case when n % 17 > 0 then n * 257 % case n % 23 when 0 then 200000 else 8000 end end, n % 3, 2, 1
    from generate_series(1, 600) n, lateral (select timestamptz '2026-10-01 00:00+08' + make_interval(secs => n * 7919 % 864000) as at) x`)
  const differing = `select d.day from livehouse_bi.daily_channel d left join (
      select channel_id, day, max(estimated_all_viewers) as viewers, max(estimated_live_viewers) as live from livehouse_bi.fct_audience_minute group by 1, 2
    ) m using (channel_id, day)
    where (coalesce(d.estimated_peak_viewers, 0), coalesce(d.estimated_peak_live_viewers, 0)) is distinct from (coalesce(m.viewers, 0), coalesce(m.live, 0))`
  expect(await read(differing)).toEqual([])
  const summary = await read(`select count(*) > 9 as has_days, max(estimated_peak_viewers) > 5 as has_viewers
    from livehouse_bi.daily_channel where channel_id = '7'`)
  expect(summary).toEqual([{ has_days: true, has_viewers: true }])
})

import { expect, test } from 'vitest'
import { forms } from '../../src/cli/forms.ts'
import { runQuery } from '../../src/store/pool.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'

const edited = [
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

test('live visits with short pauses are one broadcast, told with its minutes and viewers, whatever is read of other days', async () => {
  await using database = await createTestDatabase()
  const set = async (settings: Readonly<Record<string, string>>) => {
    const environment = { DATABASE_URL: database.url, ...settings }
    expect(await runVerb(forms, [], { environment })).toMatchObject({ code: 0 })
  }
  const read = async (text: string) => await runQuery(database.db, text)
  await set({ LIVEHOUSE_CURRENCY: 'CNY' })
  for (const statement of edited) await read(statement)

  const broadcasts = () =>
    read('select broadcast_key, broadcast_seconds from livehouse_bi.fct_broadcast order by started_at')
  const both = [
    { broadcast_key: '5:20261101T2000', broadcast_seconds: '4795' },
    { broadcast_key: '5:20261102T2350', broadcast_seconds: '1200' },
  ]
  expect(await broadcasts()).toEqual(both)
  const first = `where broadcast_key = '5:20261101T2000'`
  const [told = {}] = await read(`select day::text, ended_at_local::text as ended, visits, viewers, new_viewers,
    estimated_peak_live_viewers as peak, peak_at_local::text, average_stay_seconds, live_seconds, replay_seconds, cash_gifts, cash_amount,
    prop_gifts, signups, top_access_source, top_device, top_province, is_complete, is_test from livehouse_bi.fct_broadcast ${first}`)
  expect(Object.values(told).join(', ')).toBe(
    '2026-11-01, 2026-11-01 21:20:00, 6, 4, 2, 3, 2026-11-01 20:20:00, 1653, 6000, 610, 1, 5.00, 0, 1, a.example, phone, 浙江, false, false',
  )
  const minutes = await read(`select minute_no as no, estimated_viewers as viewers, joins, leaves, retention
    from livehouse_bi.fct_broadcast_minute ${first} and minute_no in (0, 9, 19, 20, 40, 79) order by 1`)
  expect(minutes).toEqual([
    { no: 0, viewers: '1', joins: '1', leaves: '0', retention: 1 },
    { no: 9, viewers: '1', joins: '1', leaves: '0', retention: 1 },
    { no: 19, viewers: '3', joins: '1', leaves: '0', retention: 1 },
    { no: 20, viewers: '4', joins: '0', leaves: '0', retention: 1 },
    { no: 40, viewers: '1', joins: '0', leaves: '0', retention: 0 },
    { no: 79, viewers: '1', joins: '0', leaves: '0', retention: 0 },
  ])
  const viewers = await read(`select viewer_key as who, visits, stay_seconds as stay,
    round(share_of_broadcast::numeric, 3) as share, cash_amount as cash, prop_gifts as props, signups, is_new
    from livehouse_bi.fct_broadcast_viewer ${first} order by 1`)
  expect(viewers).toEqual([
    { who: '5:a', visits: '2', stay: '3000', share: '0.626', cash: '5.00', props: '0', signups: '0', is_new: true },
    { who: '5:b', visits: '1', stay: '1200', share: '0.250', cash: '0', props: '0', signups: '1', is_new: false },
    { who: '5:c', visits: '1', stay: '1810', share: '0.377', cash: '0', props: '0', signups: '0', is_new: true },
    { who: '5:d', visits: '1', stay: '600', share: '0.125', cash: '0', props: '0', signups: '0', is_new: false },
  ])

  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, api_version, run_id)
    select '5', 100 + n, 'e', at, at + interval '1 hour', 3600, 3600, 2, 1
    from generate_series(timestamptz '2026-10-31 20:00+08', '2026-11-02 20:00+08', '2 days') with ordinality g (at, n)`)
  expect(await broadcasts()).toEqual(expect.arrayContaining(both))

  await set({ LIVEHOUSE_BROADCAST_GAP: '10', LIVEHOUSE_BROADCAST_MIN: '5' })
  expect((await broadcasts()).map((row) => row.broadcast_key)).toEqual(
    ['1031T2000', '1101T2000', '1101T2110', '1101T2330', '1102T2000', '1102T2350'].map((start) => `5:2026${start}`),
  )
})

test('a visit without a leave ends with its day, and one that left before it came counts nowhere', async () => {
  await using database = await createTestDatabase()
  const read = async (text: string) => (await runQuery(database.db, text)).map((row) => Object.values(row).join(' '))
  await read(`insert into livehouse.channels (channel_id, run_id) values ('6', 1);
    insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, api_version, run_id)
    values ('6', 1, 'a', '2026-11-10 23:50+08', null, 3600, 3600, 2, 1),
      ('6', 2, 'b', '2026-11-11 00:20+08', '2026-11-11 00:40+08', 1200, 1200, 2, 1),
      ('6', 3, 'c', '2026-11-12 20:00+08', '2026-11-12 19:00+08', 600, 600, 2, 1),
      ('6', 4, 'd', '2026-11-12 20:25+08', '2026-11-12 20:35+08', 600, 600, 2, 1)`)
  expect(
    await read('select broadcast_key, broadcast_seconds, estimated_peak_live_viewers from livehouse_bi.fct_broadcast'),
  ).toEqual(['6:20261110T2350 3000 1', '6:20261112T2025 600 1'])
  expect(
    await read(`select day::text, min(minute_at_local)::time, max(estimated_all_viewers)
      from livehouse_bi.fct_audience_minute group by day order by day`),
  ).toEqual(['2026-11-10 23:50:00 1', '2026-11-11 00:20:00 1', '2026-11-12 20:25:00 1'])
})

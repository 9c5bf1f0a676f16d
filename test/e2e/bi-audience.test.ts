import { expect, test } from 'vitest'
import { runQuery } from '../../src/store/pool.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { ofFile } from '../helpers/of-file.ts'

const database = ofFile(createTestDatabase)

const read = async (text: string) => await runQuery(database.db, text)

test('a record counts from entry to the end of its online seconds or of its stay, on every day that it lasts into, and at once with others only where they meet', async () => {
  await read(`insert into livehouse.channels (channel_id, run_id) values ('8', 1);
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
  const rows =
    await read(`select day::text, to_char(minute_at_local, 'HH24:MI') as minute, estimated_all_viewers::integer as all,
    estimated_live_viewers::integer as live from livehouse_bi.fct_audience_minute where channel_id = '8' order by minute_at`)
  const first = rows.filter(({ day }) => day === '2026-11-01').map((row) => Object.values(row).slice(1))
  expect(first).toEqual([
    ['10:00', 1, 1],
    ['10:01', 2, 1],
    ['10:02', 2, 1],
    ['10:03', 2, 1],
    ['10:04', 1, 1],
    ['11:00', 2, 1],
    ['20:00', 1, null],
    ['23:58', 1, 1],
    ['23:59', 2, 1],
  ])
  const perDay = Map.groupBy(rows, ({ day }) => day)
  expect([...perDay].map(([day, minutes]) => [day, minutes.length])).toEqual([
    ['2026-11-01', 9],
    ['2026-11-02', 1440],
    ['2026-11-03', 1440],
    ['2026-11-04', 1],
  ])
  expect(perDay.get('2026-11-02')?.[1]).toEqual({ day: '2026-11-02', minute: '00:01', all: 2, live: 1 })
  const peaks = await read(`select estimated_peak_viewers as all, estimated_peak_live_viewers as live
    from livehouse_bi.daily_channel where channel_id = '8' and day < '2026-11-03'`)
  const peak = { all: '2', live: '1' }
  expect(peaks).toEqual([peak, peak])
})

test('a peak is the largest minute of its day, however records overlap, also over midnight', async () => {
  await read(`insert into livehouse.channels (channel_id, run_id) values ('7', 1)`)
  // Entries and stays in no order, some of them over one or several midnights, some without an end or a length.
  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, live_seconds, api_version, run_id)
    select '7', n, 'u' || n % 37, at, case when n % 19 > 0 then at + make_interval(secs => n * 131 % 9000 + case n % 23 when 0 then 180000 else 0 end) end,
      case when n % 17 > 0 then n * 257 % case n % 23 when 0 then 200000 else 8000 end end, n % 3, 2, 1
    from generate_series(1, 600) n, lateral (select timestamptz '2026-10-01 00:00+08' + make_interval(secs => n * 7919 % 864000) as at) x`)
  const differing = `select d.day from livehouse_bi.daily_channel d left join (
      select channel_id, day, max(estimated_all_viewers) as viewers, max(estimated_live_viewers) as live from livehouse_bi.fct_audience_minute group by 1, 2
    ) m using (channel_id, day)
    where (coalesce(d.estimated_peak_viewers, 0), coalesce(d.estimated_peak_live_viewers, 0)) is distinct from (coalesce(m.viewers, 0), coalesce(m.live, 0))`
  expect(await read(differing)).toEqual([])
  const told = await read(`select count(*) > 9 as has_days, max(estimated_peak_viewers) > 5 as has_viewers
    from livehouse_bi.daily_channel where channel_id = '7'`)
  expect(told).toEqual([{ has_days: true, has_viewers: true }])
})

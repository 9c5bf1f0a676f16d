import { beforeAll, expect, test } from 'vitest'
import { biViews } from '../../src/bi/registry.ts'
import { runQuery } from '../../src/store/pool.ts'
import { ofFile } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import type { TestDatabase } from '../helpers/postgres.ts'
import { startAccount } from '../helpers/start-account.ts'

const account = ofFile(() => startAccount({ channels: 1, viewers: 20 }))

/** Rows of a channel that no sync touches, inserted after a sync has created the views. */
const exampleRows = [
  `insert into livehouse.channels (channel_id, is_test, state, run_id) values ('8', true, 'active', 1)`,
  `insert into livehouse.visitors (channel_id, user_id, first_login_at, removed_at, run_id) values ('8', 'gone', '2026-11-04 10:00+08', now(), 1)`,
  `insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, watch_seconds, live_seconds, access_source,
      address, api_version, run_id) values
    ('8', 1, 'old', '2026-11-02 10:00+08', '2026-11-02 10:10+08', 600, 600, null, 'a.example/x?name=王小明&phone=13800138000', '浙江张三丰', 1, 1),
    ('8', 2, 'owl', '2026-11-05 23:50:07+08', '2026-11-06 00:20:09+08', 1800, 1800, 1800, 'a.example/x%3Fname=王小明', '云南大理3号', 2, 1),
    ('8', 3, 'owl', null, null, 60, 60, 60, 'a.example/x#王小明', null, 2, 1)`,
  `insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, amount, occurrence, run_id) values ('8', 'prop', 'g', '2026-11-07 10:00+08', 1, 1, 1)`,
  `insert into livehouse.signups (channel_id, question_id, signup_key, signed_up_at, answers, occurrence, run_id) values ('8', 'q', 's', '2026-11-07 10:00+08', '[]', 1, 1)`,
  `insert into livehouse.signup_answers (channel_id, question_id, signup_key, question_no, question, answer, run_id)
    values ('8', 'q', 's', 1, 'a', 'b||c', 1), ('8', 'q', 's', 2, 'd', 'e||', 1), ('8', 'q', 's', 3, 'f', repeat('g||', 32768), 1)`,
  `insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, status, proof, distinct_rows, quarantined_rows, calls, retries,
      started_at, finished_at)
    select max(run_id), 'watch_records', 'channel=8', r, r, r, 'landed', 'verified', 1, 0, 1, 0, now(), now()
    from livehouse_ops.runs, tsrange('2026-11-01', '2026-11-04') r group by r`,
]

beforeAll(async () => {
  await account.sync()
  for (const statement of exampleRows) await read(statement)
})

const read = async (text: string, { db }: Pick<TestDatabase, 'db'> = account.database) => await runQuery(db, text)

test('a day distinguishes zero from not read and from unknown; a viewer removed from the list stays new', async () => {
  const days = await read(`select array[right(day::text, 2), new_viewers::text, visits::text, live_seconds::text,
      live_viewers::text, estimated_peak_viewers::text, estimated_peak_live_viewers::text, is_watch_complete::text,
      watch_run_id::text]::text as day
    from livehouse_bi.daily_channel where channel_id = '8' and day between '2026-11-01' and '2026-11-06' order by 1`)
  expect(days.map(({ day }) => day)).toEqual([
    '{02,NULL,1,NULL,NULL,1,NULL,true,1}',
    '{03,NULL,0,0,0,0,0,true,NULL}',
    '{04,1,NULL,NULL,NULL,NULL,NULL,false,NULL}',
    '{05,NULL,1,1800,1,NULL,NULL,false,1}',
    '{06,NULL,NULL,NULL,NULL,NULL,NULL,false,1}',
  ])
  const channels = await read(`select records_without_entry from livehouse_bi.dim_channel where channel_id = '8'`)
  expect(channels).toEqual([{ records_without_entry: '1' }])
  const visits = await read(`select is_live from livehouse_bi.fct_viewer_day where channel_id = '8' order by day`)
  expect(visits).toEqual([{ is_live: null }, { is_live: true }])
})

test('figures of a gift type that has not been read are NULL, as are figures that no visit shows', async () => {
  const gifts = `select cash_gifts, cash_amount, prop_gifts, prop_amount from livehouse_bi.daily_channel where channel_id = '8' and day = '2026-11-07'`
  expect(await read(gifts)).toEqual([{ cash_gifts: null, cash_amount: null, prop_gifts: '1', prop_amount: '1.00' }])
  await read(`update livehouse.gifts set amount = null where channel_id = '8'`)
  expect(await read(gifts)).toMatchObject([{ prop_gifts: '1', prop_amount: null }])
  const watched = `select is_watched, is_over_one_minute, watched_visit_count, watched_viewers, viewers_over_one_minute,
      watched_visits, viewers, live_viewers, estimated_peak_live_viewers, estimated_peak_viewers
    from livehouse_bi.fct_viewer_day v join livehouse_bi.daily_channel d using (channel_id, day)
    where channel_id = '8' order by day limit 1`
  const withVisit = async (change: string) => {
    await read(`update livehouse.watch_records set ${change} where channel_id = '8' and record_id = 1`)
    return Object.values((await read(watched))[0] ?? {})
  }
  const none = Array(6).fill(null)
  const noSeconds = await withVisit('watch_seconds = null, online_seconds = null, left_at = null, live_seconds = 1')
  expect(noSeconds).toEqual([...none, '1', '1', null, null])
  expect(await withVisit('user_id = null')).toEqual([...none, '0', '0', null, null])
  for (const absence of ['online_seconds = 0', `online_seconds = null, left_at = '2026-11-02Z'`])
    expect(await withVisit(absence)).toEqual([...none, '0', '0', '0', '0'])
  await withVisit(`user_id = 'old', online_seconds = 600, live_seconds = null, left_at = '2026-11-02 10:10+08'`)
})

test('one option and a separator are one choice, too many are cut, and unknown answers have no count', async () => {
  const choices = `select concat(max(option_no), is_multiple) as told from livehouse_bi.fct_signup_choice join livehouse_bi.fct_signup_answer
    using (signup_key, question_no) where signup_key = 's' group by question_no, is_multiple order by question_no`
  expect((await read(choices)).map(({ told }) => told)).toEqual(['2t', '1f', '32767t'])
  await read(`update livehouse.signups set answers = null where channel_id = '8'`)
  const counts = `select question_count, answer_count from livehouse_bi.fct_signup where channel_id = '8'`
  expect(await read(counts)).toEqual([{ question_count: null, answer_count: null }])
})

test('a retired channel has days up to its last entry, one with an end date up to that date', async () => {
  await read(`insert into livehouse.channels (channel_id, state, run_id) values ('2', 'retired', 1);
    insert into livehouse.visitors (channel_id, user_id, last_online_at, run_id) values ('2', 'a', '2026-11-05 10:00+08', 1);
    insert into livehouse.watch_records (channel_id, record_id, entered_at, api_version, run_id) values ('2', 1, '2026-11-04 10:00+08', 2, 1), ('2', 2, '2026-11-07 10:00+08', 2, 1)`)
  const daysQuery = `select string_agg(right(day::text, 2), ' ' order by day) as days from livehouse_bi.daily_channel where channel_id = '2'`
  expect(await read(daysQuery)).toEqual([{ days: '04 05 06 07' }])
  await read(`delete from livehouse.watch_records where channel_id = '2' and record_id = 2;
    update livehouse.channels set state = 'active' where channel_id = '2'`)
  const [{ days } = {}] = await read(daysQuery)
  expect(days).toMatch(/^04 05(?: \d\d){20,}$/)
  await read(`insert into livehouse.watch_records (channel_id, record_id, entered_at, api_version, run_id)
    values ('2', 3, '2099-05-05 10:00+08', 2, 1)`)
  expect(await read(daysQuery)).toEqual([{ days: `${String(days)} 05` }])
  await read(`update livehouse.channels set read_until = '2026-11-05' where channel_id = '2'`)
  expect(await read(daysQuery)).toEqual([{ days: '04 05 05' }])
})

test('a visit of one second counts as watched in every view', async () => {
  await read(`insert into livehouse.channels (channel_id, state, run_id) values ('1', 'active', 1);
    insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, watch_seconds, api_version, run_id)
    values ('1', 1, 'a', '2026-11-04 10:00+08', 1, 2, 1), ('1', 2, 'b', '2026-11-04 10:00+08', 0, 2, 1)`)
  const counts = await read(`select d.watched_visits, d.watched_viewers, v.watched_visits as visits, v.watched_days,
      f.viewers from livehouse_bi.daily_channel d, livehouse_bi.viewer_funnel_month f, (select
      (select count(*) filter (where is_watched) from livehouse_bi.fct_watch where channel_id = '1') as watched_visits,
      (select count(*) filter (where is_watched) from livehouse_bi.fct_viewer_day where channel_id = '1') as watched_days) v
    where d.channel_id = '1' and d.day = '2026-11-04' and f.channel_id = '1' and f.step = 'watched'`)
  expect(counts.map((row) => Object.values(row).join(' '))).toEqual(['1 1 1 1 1'])
})

test('every fact view of channels says which rows are of a test channel', async () => {
  const facts = biViews.filter(({ name }) => /^(fct|daily|viewer_funnel)/.test(name))
  const channelFacts = facts.filter(({ columns }) => 'channel_id' in columns)
  expect(channelFacts.length).toBeGreaterThan(9)
  for (const { name } of channelFacts) {
    const marks = await read(`select distinct channel_id = '8' as marked, is_test from livehouse_bi.${name} order by 1`)
    expect(marks, name).toEqual([false, true].map((is_test) => ({ marked: is_test, is_test })))
  }
})

test('analysts see links without their query, and addresses only down to places that exist', async () => {
  await using analyst = await openAs('livehouse_analyst', account.database)
  await using pii = await openAs('livehouse_pii', account.database)
  const links = `select access_source as link, address, city from livehouse_bi.fct_watch where channel_id = '8'`
  const seen = async (reader: typeof analyst) => await read(`${links} order by record_id`, reader)
  const link = 'a.example/x'
  expect(await seen(analyst)).toEqual([
    { link, address: '浙江', city: null },
    { link, address: '云南大理白族自治州', city: '大理白族自治州' },
    { link, address: null, city: null },
  ])
  expect((await seen(pii)).map((row) => String(row.link).slice(-3))).toEqual(['000', '王小明', '王小明'])
  await account.sync('managers', { LIVEHOUSE_MASK: 'access_source,username' })
  expect((await seen(analyst)).map((row) => row.link)).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)))
  const names = async (reader: typeof analyst) =>
    (await read('select distinct username from livehouse_bi.fct_manager_usage', reader)).map((row) => row.username)
  expect((await names(pii)).length).toBeGreaterThan(1)
  for (const name of await names(analyst)) expect(name).toMatch(/^.\*\*$/u)
  await read(`update livehouse_ops.bi_settings set masked = '{}'`)
  expect((await seen(analyst)).map((row) => row.link)).toEqual([link, link, link])
})

test('viewers who share an id, even by way of others, become one person; placeholders join nobody', async () => {
  const persons = async () => {
    expect(await account.sync('managers')).toMatchObject({ code: 0 })
    const rows = await read(`select string_agg(user_id, ' ' order by user_id) as viewers from livehouse_bi.dim_viewer
      where channel_id = '7' group by person_key order by 1`)
    return rows.map(({ viewers }) => viewers).join(', ')
  }
  await read(`insert into livehouse.visitors (channel_id, user_id, outer_id, assign_id, phone, run_id) values
    ('7', 'a', 'CRM 1', null, null, 1), ('7', 'b', 'crm\u00ad\u20691', 'e1', null, 1), ('7', 'c', null, 'E1', '13900000001', 1), ('7', 'd', null, null, '\u2066\u202f＋86\t139-0000-\u200b0001\u2069', 1),
    ('7', 'e', '0', null, '00000000000', 1), ('7', 'f', '0', null, '00000000000', 1), ('7', 'g', null, null, '13900000002', 1), ('7', 'h', null, null, '--------', 1), ('7', 'i', null, null, '( )-( )-( )', 1);
    /* As before migration 0086. */ delete from livehouse_ops.migrations where name like '0086%'; insert into livehouse_ops.viewer_persons values ('7', 'b', 'crm\u00ad\u20691', 'e1', null, '1crm\u00ad\u20691')`)
  expect(await persons()).toBe('a b c d, e, f, g, h, i')
  const known = await read(`select count(*) from livehouse_bi.dim_person p where exists (
    select from livehouse_bi.dim_viewer v where v.person_key = p.person_key and v.channel_id = '7')`)
  expect(known).toEqual([{ count: '6' }])
  const written = () => read('select xmin::text, * from livehouse_ops.viewer_persons order by 2, 3')
  const before = await written()
  await persons()
  expect(await written()).toEqual(before)
  await read(`update livehouse.visitors set assign_id = 'other' where channel_id = '7' and user_id = 'b'`)
  expect(await persons()).toBe('a b, c d, e, f, g, h, i')
  await read(`insert into livehouse.visitors (channel_id, user_id, phone, run_id)
    select '7', 'crowd ' || n, '13900000002', 1 from generate_series(1, 5) n;
    update livehouse.visitors set outer_id = 'crm2' where channel_id = '7' and user_id = 'd';
    update livehouse.visitors set outer_id = 'crm3' where channel_id = '7' and user_id = 'c'`)
  await persons()
  const conflicts = await read(`select viewer_count, outer_id_count, is_several_accounts, is_crowd
    from livehouse_bi.identity_conflicts order by 1`)
  expect(conflicts.map((row) => Object.values(row).join(' '))).toEqual(['2 2 true false', '6 0 false true'])
  await account.sync('managers', { LIVEHOUSE_IGNORED_IDS: '(+86) 139 0000-0001, 13900000002' })
  expect(await persons()).toBe('a b, c, crowd 1, crowd 2, crowd 3, crowd 4, crowd 5, d, e f, g, h, i')
})

test('every funnel step counts only viewers of the first step, in total and by month', async () => {
  await read(`insert into livehouse.visitors (channel_id, user_id, visit_count, watch_seconds, removed_at, run_id) values
    ('6', 'stays', 2, 90, null, 1), ('6', 'left', 1, 30, now(), 1)`)
  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, watch_seconds, api_version, run_id) values
    ('6', 1, 'stays', '2026-10-31 10:00+08', 30, 2, 1), ('6', 2, 'stays', '2026-11-01 10:00+08', 60, 2, 1), ('6', 3, 'left', '2026-11-01 10:00+08', 30, 2, 1)`)
  await read(`insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, visitor_id, occurrence, run_id) values
    ('6', 'prop', 'a', '2026-10-31 10:00+08', 'left', 1, 1), ('6', 'prop', 'b', '2026-11-01 10:00+08', 'left', 1, 1), ('6', 'prop', 'c', '2026-11-01 10:00+08', 'stranger', 1, 1)`)
  const funnel = async (view: string, by: string) => {
    const rows = await read(`select ${by}, string_agg(concat_ws(' ', step, viewers, 'of', events), ', '
      order by step_no) from livehouse_bi.${view} where channel_id = '6' group by 1 order by 1`)
    return rows.map((row) => Object.values(row))
  }
  const all =
    'visited 2 of 3, watched 2 of 2, watched_one_minute 1 of 1, commented 0 of 0, signed_up 0 of 0, gave_gift 1 of 3'
  expect(await funnel('viewer_funnel', 'null')).toEqual([[null, all]])
  expect(await funnel('viewer_funnel_month', 'month_start::text')).toEqual([
    ['2026-10-01', 'visited 1 of 1, watched 1 of 1, watched_one_minute 0 of 0, signed_up 0 of 0, gave_gift 0 of 1'],
    ['2026-11-01', 'visited 2 of 2, watched 2 of 2, watched_one_minute 1 of 1, signed_up 0 of 0, gave_gift 1 of 2'],
  ])
})

test('the reconciliation leaves out viewers for whom one of the compared figures is unknown', async () => {
  await read(`insert into livehouse.channels (channel_id, run_id) values ('7', 1);
    insert into livehouse.visitors (channel_id, user_id, visit_count, live_seconds, run_id)
    values ('7', 'v1', 1, 100, 1), ('7', 'never', 0, 0, 1), ('7', 'untold', null, null, 1)`)
  const insert = (id: number, live: number | null) =>
    read(`insert into livehouse.watch_records (channel_id, record_id, user_id, live_seconds, api_version, run_id)
      values ('7', ${id}, 'v1', ${live}, 1, 1), ('7', ${id} + 10, 'untold', 5, 2, 1)`)
  const check = (name: string) =>
    read(`select left_value::integer as "left", right_value::integer as "right", is_equal, differing_viewers::integer as differing
      from livehouse_bi.reconciliation where channel_id = '7' and check_name = '${name}'`)
  await insert(1, null)
  expect(await check('viewer_live_seconds')).toEqual([{ left: 0, right: 0, is_equal: true, differing: 0 }])
  expect(await check('viewer_visits')).toEqual([{ left: 1, right: 1, is_equal: true, differing: 0 }])
  expect(await check('text_live_seconds')).toEqual([{ left: null, right: null, is_equal: null, differing: 0 }])
  await insert(2, 40)
  expect(await check('viewer_live_seconds')).toEqual([{ left: 0, right: 0, is_equal: true, differing: 0 }])
  await read(`update livehouse.watch_records set live_seconds = 0 where channel_id = '7' and record_id = 1`)
  expect(await check('viewer_live_seconds')).toEqual([{ left: 100, right: 40, is_equal: false, differing: 1 }])
})

test('an entry of long ago has a row for its own day, and none for each day since', async () => {
  await read(`insert into livehouse.channels (channel_id, run_id) values ('4', 1), ('3', 1);
    insert into livehouse.visitors (channel_id, user_id, first_login_at, run_id)
    values ('4', 'odd', '1970-01-01 08:00+08', 1), ('4', 'odd too', '2099-01-01 08:00+08', 1)`)
  await read(`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, api_version, run_id)
    select c, no, 'u', at, 2, 1 from (values ('4', 1, timestamptz '2012-06-01 10:00+08'), ('4', 2, now() - interval '9 days'),
      ('4', 3, now() - interval '7 days'), ('3', 1, '2012-06-01 10:00+08')) r (c, no, at)`)
  const now = `count(*) filter (where day > current_date - 12 and day < '2099-01-01')`
  const days = await read(`select channel_id, count(*) as days, ${now} as now, sum(visits), sum(new_viewers) as new
    from livehouse_bi.daily_channel where channel_id in ('3', '4') group by 1 order by 1`)
  expect(days.map((row) => Object.values(row).join(' '))).toEqual(['3 1 0 1 ', '4 13 10 3 2'])
})

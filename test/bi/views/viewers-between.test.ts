import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { refreshFigures } from '../../../src/bi/publish/refresh-figures.ts'
import { runQuery } from '../../../src/store/pool.ts'
import { openAs } from '../../helpers/open-as.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'

const viewersQuery = (from: string, to: string) => `select channel_id, viewers, is_test
  from livehouse_bi.viewers_between(${from}, ${to}) order by channel_id`

test('viewers_between agrees with count(distinct), even for a channel that has changed since a refresh', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  await sql`insert into livehouse.channels (channel_id, is_test, state, run_id)
    values ('1', false, 'active', 1), ('2', true, 'active', 1)`.execute(db)
  const addRecords = async (first: number, last: number) =>
    await sql`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, api_version, run_id)
      select (n % 2 + 1)::text, n, nullif('u' || n * 7919 % 41, 'u7'), case when n % 13 > 0 then
        timestamptz '2026-01-01 00:00+08' + make_interval(mins => n * 10007 % 260000) end, 2, 1
      from generate_series(${sql.lit(first)}, ${sql.lit(last)}) n`.execute(db)
  await addRecords(1, 120)
  await refreshFigures(db)
  await sql`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, api_version, run_id)
    values ('2', 999, 'u1', '2026-02-28 23:59:59+08', 2, 1), ('2', 998, 'u2', '2026-03-01 00:00+08', 2, 1)`.execute(db)
  await using analyst = await openAs('livehouse_analyst', database)
  const read = async (text: string) => await runQuery(analyst.db, text)
  const periods = await read(`select f::date::text as f, t::date::text as t
    from generate_series(timestamp '2025-12-30', '2026-07-05', '3 days 1 hour') f,
      lateral generate_series(f, '2026-07-06', '5 days 1 hour') t`)
  expect(periods.length).toBeGreaterThan(900)
  const [row] = await read(`select count(*) as compared, count(*) filter (where a.viewers is distinct from b.viewers
        or a.is_test is distinct from b.is_test) as different, sum(a.viewers) as viewers
      from (values ${periods.map(({ f, t }) => `(date '${f}', date '${t}')`).join(', ')}) p (f, t)
      cross join (values ('1'), ('2')) c (channel_id)
      left join lateral livehouse_bi.viewers_between(p.f, p.t) a on a.channel_id = c.channel_id
      left join lateral (select d.channel_id, d.is_test, count(distinct d.viewer_key) as viewers
        from livehouse_bi.fct_viewer_day d where d.day between p.f and p.t and d.viewer_key is not null
        group by 1, 2) b on b.channel_id = c.channel_id`)
  expect(row).toMatchObject({ compared: `${periods.length * 2}`, different: '0' })
  expect(Number(row?.viewers)).toBeGreaterThan(10_000)
  expect(await read(viewersQuery(`'-infinity'`, `'infinity'`))).toMatchObject([{ viewers: '38' }, {}])
  for (const none of [viewersQuery('null', 'current_date'), viewersQuery(`'2026-03-02'`, `'2026-03-01'`)])
    expect(await read(none)).toEqual([])
})

test('only readers of the views may call viewers_between, and it uses none of their objects', async () => {
  await using database = await createTestDatabase()
  await using analyst = await openAs('livehouse_analyst', database)
  await using pii = await openAs('livehouse_pii', database)
  const { rows } = await sql<{ role: string }>`select a.grantee::regrole::text as role
    from pg_proc p cross join aclexplode(p.proacl) a
    where p.oid = 'livehouse_bi.viewers_between(date, date)'::regprocedure
      and a.grantee <> p.proowner order by 1`.execute(database.db)
  expect(rows.map(({ role }) => role)).toEqual(['livehouse_analyst', 'livehouse_pii'])
  expect(await runQuery(pii.db, viewersQuery('current_date', 'current_date'))).toEqual([])
  const altered = runQuery(analyst.db, 'alter function livehouse_bi.viewers_between(date, date) reset all')
  await expect(altered).rejects.toThrow('owner')
  await analyst.db.connection().execute(async (db) => {
    await sql`create function pg_temp.date_trunc(text, timestamp) returns timestamp language plpgsql as
      $$ begin raise 'called as %', current_user; end $$`.execute(db)
    await sql`create temp table p (asked daterange, months daterange)`.execute(db)
    await sql`set search_path = pg_temp, livehouse_bi, pg_catalog`.execute(db)
    await expect(sql`select date_trunc('month', timestamp '2026-01-01')`.execute(db)).resolves.toBeDefined()
    await expect(sql.raw(viewersQuery(`'2026-01-01'`, 'current_date')).execute(db)).resolves.toMatchObject({ rows: [] })
  })
})

import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { groupPersons } from '../../../src/bi/publish/group-persons.ts'
import { publishBi } from '../../../src/bi/publish/publish-bi.ts'
import { refreshFigures } from '../../../src/bi/publish/refresh-figures.ts'
import type { Database } from '../../../src/store/database.ts'
import { lockName } from '../../../src/store/lock-name.ts'
import { openDatabase, runQuery } from '../../../src/store/pool.ts'
import { ofTest } from '../../helpers/of-file.ts'
import { openTransaction, untilBlocked } from '../../helpers/own-locks.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'

const database = ofTest(createTestDatabase)

/** A channel in each table that figures are computed from, and one of them in two. */
const someChannels = `insert into livehouse.visitors (channel_id, user_id, run_id) values ('1', 'a', 1), ('2', 'a', 1), ('2', 'b', 1);
    insert into livehouse.watch_records (channel_id, record_id, api_version, run_id) values ('2', 1, 2, 1), ('3', 1, 2, 1);
    insert into livehouse.gifts (channel_id, gift_type, gift_key, occurrence, run_id) values ('4', 'prop', 'g', 1, 1);
    insert into livehouse.signups (channel_id, question_id, signup_key, answers, occurrence, run_id) values ('5', 'q', 's', '[]', 1, 1)`

async function readChanged(db: Kysely<Database>, notes = 'changed_channels'): Promise<string> {
  const { rows } = await sql<{ channels: string }>`
    select coalesce(string_agg(distinct channel_id, ' ' order by channel_id), '') as channels
    from ${sql.table(`livehouse_ops.${notes}`)}`.execute(db)
  return rows[0]?.channels ?? ''
}

const pretendOtherVersion = (notes: string) =>
  sql`comment on function ${sql.table(`livehouse_ops.note_${notes}`)}() is 'of another livehouse'`
const outdateViews = sql`update livehouse_ops.bi_settings set fingerprint = 'older'`

test('only the version that published the views computes figures; another version or zone recomputes all', async () => {
  const { db } = database
  await runQuery(db, someChannels)
  await pretendOtherVersion('changed_channels').execute(db)
  await refreshFigures(db)
  expect(await readChanged(db)).toBe('1 2 3 4 5')
  expect(await readChanged(db, 'changed_persons')).toBe('1 2')
  await sql`delete from livehouse_ops.changed_channels`.execute(db)
  await outdateViews.execute(db)
  await using older = await openTransaction(db)
  await lockName(older, 'channel days')
  const published = publishBi(db)
  await untilBlocked(db, sql`true`)
  await older.commit().execute()
  expect(await published).toEqual({ status: 'published' })
  expect(await readChanged(db)).toBe('1 2 3 4 5')
  await refreshFigures(db)
  expect(await readChanged(db)).toBe('')
  await publishBi(db, { timeZone: 'UTC' })
  expect(await readChanged(db)).toBe('1 2 3 4 5')
})

test('only the version that published the views groups persons', async () => {
  const { db } = database
  await sql`insert into livehouse.visitors (channel_id, user_id, phone, run_id)
    values ('1', 'a', '13900000001', 1)`.execute(db)
  const countGrouped = async () => (await sql`select from livehouse_ops.viewer_persons`.execute(db)).rows.length
  await pretendOtherVersion('changed_persons').execute(db)
  await groupPersons(db)
  expect([await countGrouped(), await readChanged(db, 'changed_persons')]).toEqual([0, '1'])
  await outdateViews.execute(db)
  await publishBi(db)
  expect([await countGrouped(), await readChanged(db, 'changed_persons')]).toEqual([1, ''])
})

test('figures of tables that were just filled are computed without nested loops', async () => {
  await sql`insert into livehouse.visitors (channel_id, user_id, run_id)
    select '1', 'viewer ' || n, 1 from generate_series(1, 15000) n`.execute(database.db)
  await sql`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, api_version, run_id)
    select '1', n, 'viewer ' || n, '2026-11-01 12:00+08', 2, 1 from generate_series(1, 15000) n`.execute(database.db)
  await using fresh = await openDatabase(database.url, { maxConnections: 1 })
  await sql`set statement_timeout = '10s'`.execute(fresh)
  await refreshFigures(fresh)
  expect(await readChanged(database.db)).toBe('')
})

test.each([
  ['changed_channels', refreshFigures],
  ['changed_persons', groupPersons],
] as const)('after an abort no work on %s begins, and work that hits a deadlock is repeated', async (notes, work) => {
  const { db } = database
  await runQuery(db, someChannels)
  const before = await readChanged(db, notes)
  await work(db, AbortSignal.abort())
  expect(await readChanged(db, notes)).toBe(before)
  await sql`create sequence public.tries`.execute(db)
  await sql`create function public.deadlock_once() returns trigger language plpgsql as $$ begin
      if nextval('public.tries') = 1 then raise deadlock_detected; end if; return null; end $$`.execute(db)
  await sql`create trigger deadlock after delete on ${sql.table(`livehouse_ops.${notes}`)}
      for each statement execute function public.deadlock_once()`.execute(db)
  await work(db)
  const { rows } = await sql`select last_value > 1 as is_done_again from public.tries`.execute(db)
  expect(rows).toEqual([{ is_done_again: true }])
  expect(await readChanged(db, notes)).toBe('')
})

test('two refreshes at once compute each channel once, and a refresh without changes waits for no other', async () => {
  const { db } = database
  await sql`insert into livehouse.visitors (channel_id, user_id, run_id) select n, 'a', 1
    from generate_series(1, 80) n`.execute(db)
  await sql`create table public.times (channel_id text, work bigint default txid_current())`.execute(db)
  await sql`create function public.note_times() returns trigger language plpgsql as $$ begin
    insert into public.times (channel_id) select distinct channel_id from written; return null; end $$`.execute(db)
  await sql`create trigger count_times after insert on livehouse_ops.channel_figures
    referencing new table as written for each statement execute function public.note_times()`.execute(db)
  await Promise.all([refreshFigures(db), refreshFigures(db)])
  const { rows } = await sql`select count(*)::integer as works, count(distinct channel_id)::integer as channels
      from public.times`.execute(db)
  expect(rows).toEqual([{ works: 80, channels: 80 }])
  await using other = await openTransaction(db)
  await lockName(other, 'channel days')
  await refreshFigures(db)
}, 60_000)

test('stored weeks and months do not depend on the date style of the server', async () => {
  const { db } = database
  await sql`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, api_version, run_id)
    values ('1', 1, 'a', '2026-11-03Z', 2, 1), ('1', 2, 'a', '2026-11-10Z', 2, 1)`.execute(db)
  await using german = await openDatabase(database.url, { maxConnections: 1 })
  await sql`set datestyle = 'SQL, DMY'`.execute(german)
  await refreshFigures(german)
  const { rows } =
    await sql`select cohort_week::text, week_no from livehouse_bi.viewer_cohort_week order by week_no`.execute(db)
  expect(rows).toEqual([0, 1].map((week_no) => ({ cohort_week: '2026-11-02', week_no })))
})

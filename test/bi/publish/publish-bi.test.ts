import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { migrateDown } from '../../../src/bi/publish/migrate-down.ts'
import { planForDba, publishBi } from '../../../src/bi/publish/publish-bi.ts'
import { biViews } from '../../../src/bi/registry.ts'
import { createChangeTriggers } from '../../../src/bi/views/change-triggers.ts'
import { claimSource } from '../../../src/ledger/source.ts'
import { loadMigrations, migrateUp, readMigrationStatus } from '../../../src/store/migrate.ts'
import { migrationSql } from '../../../src/store/migration-sql.ts'
import { openDatabase } from '../../../src/store/pool.ts'
import { describeSchema } from '../../helpers/describe-schema.ts'
import { ofTest } from '../../helpers/of-file.ts'
import { openTransaction, untilBlocked } from '../../helpers/own-locks.ts'
import { createTestDatabase, databaseUrl } from '../../helpers/postgres.ts'
import { createTestRole } from '../../helpers/test-role.ts'

const database = ofTest(createTestDatabase)

const source = { baseUrl: 'https://api.example.com', appId: null, timeZone: 'America/New_York' }

test('publishing twice changes nothing, also concurrently and in two databases, and analyzes the indexes', async () => {
  await using database = await createTestDatabase({ isPublished: false })
  await using other = await createTestDatabase({ isPublished: false })
  await sql`insert into livehouse.watch_records (channel_id, record_id, entered_at, api_version, run_id)
    select '9', n, timestamptz '2026-11-20Z' - make_interval(days => n), 2, 1
    from generate_series(1, 100) n`.execute(database.db)
  const outcomes = await Promise.all([database, database, database, other].map(({ db }) => publishBi(db)))
  const statuses = outcomes.map(({ status }) => status)
  expect([statuses.slice(0, 3).toSorted(), statuses[3]]).toEqual([['published', 'unchanged', 'unchanged'], 'published'])
  const statistics = sql`select from pg_stats where tablename = 'watch_records_day_channel'`
  expect((await statistics.execute(database.db)).rows).not.toEqual([])
  const before = await describeSchema(database.db)
  expect(await publishBi(database.db)).toEqual({ status: 'unchanged' })
  expect(await describeSchema(database.db)).toEqual(before)
})

test("the views show the days of the source's zone, even if it is claimed after they were created", async () => {
  const { db } = database
  await claimSource(db, source)
  expect(await publishBi(db)).toEqual({ status: 'published' })
  await sql`insert into livehouse.watch_records (channel_id, record_id, entered_at, api_version, run_id)
    values ('9', 1, '2026-11-20T03:00:00Z', 2, 1)`.execute(db)
  const { rows } = await sql`select day::text, entered_at_local::text from livehouse_bi.fct_watch`.execute(db)
  expect(rows).toEqual([{ day: '2026-11-19', entered_at_local: '2026-11-19 22:00:00' }])
  const visit = async (channel: string, id: number, at: string, seconds: number) =>
    await sql`insert into livehouse.watch_records (channel_id, record_id, entered_at, online_seconds, live_seconds, api_version, run_id)
      values (${channel}, ${id}, ${at}, ${seconds}, ${seconds}, 2, 1)`.execute(db)
  // Clocks are set back during this visit.
  await visit('9', 2, '2026-11-01T05:50:00Z', 1200)
  const { rows: broadcasts } =
    await sql`select ended_at_local::text, is_complete from livehouse_bi.fct_broadcast`.execute(db)
  expect(broadcasts).toEqual([{ ended_at_local: '2026-11-01 01:10:00', is_complete: false }])
  // The same wall-clock time twice: as the start and end of one visit, and as the starts of two.
  await visit('7', 1, '2026-11-01T05:30:00Z', 3600)
  for (const [id, hour] of [5, 6, 8].entries()) await visit('8', id, `2026-11-01T0${hour}:10:00Z`, 700)
  await sql`insert into livehouse.channels (channel_id, run_id) values ('7', 1)`.execute(db)
  await sql`insert into livehouse_ops.runs (command, status, settings, started_at)
    values ('test', 'ok', '{}', now())`.execute(db)
  for (const [until, isComplete] of [['2026-11-01 01:40', false] as const, ['2026-11-02', true] as const]) {
    await sql`insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, status, proof, distinct_rows, quarantined_rows, calls,
        retries, started_at, finished_at)
      select run_id, 'watch_records', 'channel=7', r, r, r, 'landed', 'verified', 1, 0, 1, 0, now(), now()
      from livehouse_ops.runs, tsrange('2026-10-30', ${until}) r`.execute(db)
    const { rows: statuses } =
      await sql`select is_complete from livehouse_bi.fct_broadcast where broadcast_key = '7:20261101T0130A'`.execute(db)
    expect(statuses).toEqual([{ is_complete: isComplete }])
  }
  const { rows: keys } = await sql<{ broadcast_key: string }>`
    select broadcast_key from livehouse_bi.fct_broadcast where channel_id = '8' order by started_at`.execute(db)
  expect(keys.map((row) => row.broadcast_key.slice(-5))).toEqual(['0110A', 'T0110', 'T0310'])
  const { rows: indexes } = await sql<{ indexdef: string }>`
    select indexdef from pg_indexes where indexname = 'watch_records_day_channel'`.execute(db)
  expect(indexes[0]?.indexdef).toContain('America/New_York')
})

test("another user's view of ours and another role's grant survive an update that only adds columns", async () => {
  await using role = await createTestRole()
  await using database = await createTestDatabase()
  const { db } = database
  await pretendOlder(db, 'dim_channel', 'channel_id, channel_title')
  await sql`grant select on livehouse_bi.dim_channel to ${sql.id(role.name)}`.execute(db)
  await sql`create view public.mine as select channel_title from livehouse_bi.dim_channel`.execute(db)
  expect(await publishBi(db)).toEqual({ status: 'published' })
  const { rows } = await sql`select from public.mine, livehouse_bi.dim_channel where is_active`.execute(db)
  expect(rows).toEqual([])
  const { rows: granted } = await sql<{ has: boolean }>`
    select has_table_privilege(${role.name}, 'livehouse_bi.dim_channel', 'select') as has`.execute(db)
  expect(granted).toEqual([{ has: true }])
})

test("another user's view of a dropped column blocks the update, which names it and changes nothing", async () => {
  const { db } = database
  await pretendOlder(db, 'dim_channel', `channel_id, 'x'::text as bygone`)
  await sql`create view public.mine as select bygone from livehouse_bi.dim_channel`.execute(db)
  const before = await describeSchema(db)
  expect(await publishBi(db)).toMatchObject({
    status: 'blocked',
    notice: expect.stringMatching(/view public.mine depends on.*migrate up/),
  })
  expect(await describeSchema(db)).toEqual(before)
  await expect(migrateDown(db)).rejects.toThrow('view public.mine depends on what has to be dropped (2BP01). Save')
  await sql`drop view public.mine`.execute(db)
  expect(await publishBi(db)).toEqual({ status: 'published' })
  await sql`select is_active from livehouse_bi.dim_channel`.execute(db)
})

test('a view that is no longer declared is dropped; migrating down drops all, publishing restores them', async () => {
  const { db } = database
  const before = await describeSchema(db)
  await sql`create view livehouse_bi.bygone as select 1 as one`.execute(db)
  await sql`update livehouse_ops.bi_settings set fingerprint = 'older', views = views || 'bygone'::text`.execute(db)
  expect(await publishBi(db)).toEqual({ status: 'published' })
  expect(await describeSchema(db)).toEqual(before)
  await migrateDown(db)
  const { rows } = await sql`select from pg_views where schemaname = 'livehouse_bi'`.execute(db)
  expect(rows).toEqual([])
  await migrateUp(db)
  expect(await publishBi(db)).toEqual({ status: 'published' })
  expect(await describeSchema(db)).toEqual(before)
})

test('the SQL for a DBA does what publishing does, and leaves nothing pending', async () => {
  await using byHand = await createTestDatabase({ isMigrated: false })
  const script = await migrationSql(await loadMigrations(), await planForDba(byHand.db, 'Asia/Shanghai'))
  const client = new Client({ connectionString: byHand.url })
  await client.connect()
  await client.query(script)
  await client.end()
  expect(await describeSchema(byHand.db)).toEqual(await describeSchema(database.db))
  expect(await planForDba(byHand.db, 'Asia/Shanghai')).toEqual([])
  expect(await publishBi(byHand.db)).toEqual({ status: 'unchanged' })
  expect((await readMigrationStatus(byHand.db)).map(({ name }) => name)).toEqual(Object.keys(await loadMigrations()))
  expect(await migrateUp(byHand.db)).toEqual([])
  expect(await migrateDown(byHand.db)).toEqual(Object.keys(await loadMigrations()).slice(-1))
})

test('a user who may not create or change the views is blocked, and reads what a DBA has to do', async () => {
  await using role = await createTestRole()
  await using database = await createTestDatabase({ isMigrated: false })
  const { db: admin, name } = database
  for (const schema of ['livehouse', 'livehouse_ops'])
    await sql`create schema ${sql.id(schema)} authorization ${sql.id(role.name)}`.execute(admin)
  await using db = await openDatabase(databaseUrl(name, role))
  await migrateUp(db)
  const notice = expect.stringMatching(
    /livehouse_bi are not up to date.*livehouse migrate sql.*new viewers are not grouped into persons/,
  )
  expect(await publishBi(db)).toEqual({ status: 'blocked', notice })
  await sql`create schema livehouse_bi authorization ${sql.id(role.name)}`.execute(admin)
  expect((await publishBi(db)).status).toBe('published')
  expect(await publishBi(db)).toEqual({ status: 'unchanged' })
  await sql`alter view livehouse_bi.dim_date owner to current_user`.execute(admin)
  await sql`update livehouse_ops.bi_settings set fingerprint = 'older'`.execute(admin)
  expect(await publishBi(db)).toEqual({ status: 'blocked', notice })
})

/** Drops all views and creates this one as an older livehouse would have. */
async function pretendOlder(db: Parameters<typeof publishBi>[0], view: string, columns: string): Promise<void> {
  const all = sql.join(biViews.map(({ name }) => sql`livehouse_bi.${sql.id(name)}`))
  await sql`drop view ${all}`.execute(db)
  await sql`create view livehouse_bi.${sql.id(view)} as
    select ${sql.raw(columns)} from (select channel_id, name as channel_title from livehouse.channels) c`.execute(db)
}

test('analysts do not wait while publishing waits for writers', async () => {
  const { db } = database
  await sql`comment on function livehouse_ops.note_changed_days() is 'another'`.execute(db)
  await pretendOlder(db, 'dim_channel', 'channel_id, channel_title')
  await using writer = await openTransaction(db)
  await sql`insert into livehouse.watch_records (channel_id, record_id, api_version, run_id)
    values ('9', 1, 2, 1)`.execute(writer)
  const published = publishBi(db)
  await untilBlocked(db, sql`relation = 'livehouse.watch_records'::regclass`)
  await db.transaction().execute(async (analyst) => {
    await sql`set local lock_timeout = 1`.execute(analyst)
    await sql`select from livehouse_bi.dim_channel`.execute(analyst)
  })
  await writer.commit().execute()
  expect(await published).toEqual({ status: 'published' })
})

test('another version notes every day that a record touches, and none else', async () => {
  const { db } = database
  await sql`insert into livehouse.watch_records (channel_id, record_id, entered_at, left_at, online_seconds, api_version, run_id)
    select n % 2, n, timestamptz '2026-11-01 12:00Z' + make_interval(days => n % 3), timestamptz '2026-11-06Z', nullif(n, 9) % 2 * 86400, 2, 1
    from generate_series(1, 5000) n`.execute(db)
  const notedDays = sql`select distinct channel_id, day::text from livehouse_ops.changed_channel_days order by 1, 2`
  const { rows: before } = await notedDays.execute(db)
  await sql`update livehouse_ops.changed_channel_days set day = '2020-01-01'`.execute(db)
  await sql`comment on function livehouse_ops.note_changed_days() is 'another'`.execute(db)
  for (const statement of createChangeTriggers('Asia/Shanghai', 'any')) await sql.raw(statement).execute(db)
  expect((await notedDays.execute(db)).rows).toEqual(before)
})

import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrateDown } from '../../src/bi/publish/migrate-down.ts'
import { audit } from '../../src/cli/audit.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { migrate } from '../../src/cli/migrate.ts'
import { sync } from '../../src/cli/sync.ts'
import { MINUTE } from '../../src/core/wall-clock.ts'
import type { Switches } from '../../src/emulator/switches.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { loadMigrations, migrateUp } from '../../src/store/migrate.ts'
import { runQuery } from '../../src/store/pool.ts'
import { streams } from '../../src/streams/registry.ts'
import { expectKeptDays } from '../helpers/expect-kept-days.ts'
import { fieldValue, foreignRow, meanwhile, refusal } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofFile } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import { holdLock } from '../helpers/own-locks.ts'
import { readRowVersions } from '../helpers/row-versions.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'

const onlyVisits = ['--streams', 'watch_records']

test('the first sync copies every value; a second one, without channel names, writes nothing', async () => {
  await using pipeline = await startPipeline({ viewers: 250 })
  const statements: string[] = []
  subscribe('tracing:livehouse:database:start', (message) => statements.push(String(Object(message).doing)))
  expect(await pipeline.sync()).toMatchObject({ status: 'ok', errors: [] })
  // A list that was never read is loaded by COPY from its first row on.
  expect(statements.filter((text) => text.includes('into "livehouse"."visitors"'))).toEqual([])
  await pipeline.expectTruth()

  const before = await readRowVersions(pipeline.database.db)
  pipeline.emulator.faults.push({ effect: fieldValue('name', null), endpoint: 'visitorList' })
  const result = await pipeline.sync()
  expect(await readRowVersions(pipeline.database.db)).toEqual(before)
  for (const { name, isTimeFiltered } of streams) {
    expect(result.streams[name]?.counts, name).toMatchObject({ inserted: 0, updated: 0, removed: 0 })
    const held = pipeline.emulator.truth()[name]?.length ?? 0
    const { unchanged = 0 } = result.streams[name]?.counts ?? {}
    // Streams that are filtered by time are read again only within the lookback.
    expect(isTimeFiltered ? unchanged < held : unchanged === held, name).toBe(true)
  }
})

test("migrating down past a stream's table forgets its coverage: after migrating up, a sync reads it all", async () => {
  await using pipeline = await startPipeline()
  await pipeline.sync()
  let undone: readonly string[] = []
  while (!undone.includes('0003-visitors')) undone = await migrateDown(pipeline.database.db)
  await migrateUp(pipeline.database.db)
  expect(await pipeline.sync()).toMatchObject({ status: 'ok' })
  await pipeline.expectTruth()
})

test('a sync of a service whose clock is behind covers no more than that clock has shown', async () => {
  await using pipeline = await startPipeline()
  pipeline.emulator.conditions.clockAheadMs = -40 * 60_000
  await pipeline.sync({ streams: ['watch_records'] })
  const { rows } = await sql<{ until: string }>`
    select extract(epoch from upper(range_agg(covers)) at time zone 'Asia/Shanghai') * 1000 as until
    from livehouse_ops.slices group by partition`.execute(pipeline.database.db)
  expect(rows).toHaveLength(2)
  for (const { until } of rows) expect(Number(until)).toBeLessThanOrEqual(pipeline.clock.nowMs - 45 * 60_000)
})

test('the newest ranges of all channels are read before older gaps, and what another run held comes last', async () => {
  await using account = await startAccount({ channels: 12, viewers: 5 })
  expect(await account.sync(onlyVisits)).toMatchObject({ code: 0 })
  await account.run(ledger, ['forget', '--from', '2018-10-01', '--to', '2018-10-02', ...onlyVisits])
  const before = account.emulator.calls.length
  await using other = new Leases(account.database.db)
  expect(await other.tryTake('partition managers account')).toBeDefined()
  const effect = meanwhile(() => void (account.clock.passHours(1), other.release('partition managers account')))
  account.emulator.faults.push({ effect, endpoint: 'userRecordList', times: 1 })
  expect(await account.sync('watch_records,managers', { LIVEHOUSE_CONCURRENCY: '4' })).toMatchObject({ code: 0 })
  const requests = account.emulator.calls.slice(before).filter(({ params }) => 'start_time' in params)
  const isOld = requests.map(({ params }) => String(params['start_time']) < '2018-10-02')
  expect(isOld).toContain(true)
  // Six slices are read at a time: the last newest one may be requested after the first old one of each other.
  expect(isOld.slice(0, isOld.lastIndexOf(false)).filter(Boolean).length).toBeLessThan(6)
})

test('a run overrides database settings that end statements, change values or lose commits', async () => {
  await using account = await startAccount({ channels: 1, viewers: 5 })
  const { name, db } = account.database
  const others = `standard_conforming_strings=off; extra_float_digits=-5; array_nulls=off; lock_timeout=1; jit=on;
    datestyle=SQL, DMY; default_transaction_isolation=serializable; synchronous_commit=off; statement_timeout=9999`
  for (const setting of others.split(';')) await sql.raw(`alter database ${name} set ${setting}`).execute(db)
  expect(await account.run(migrate, ['up'])).toMatchObject({ code: 0 })
  await sql`create table public.seen (name text, setting text);
    create function public.see() returns trigger language plpgsql as $$ begin
      insert into public.seen select name, setting from pg_settings where name in ('jit', 'lock_timeout',
        'statement_timeout', 'transaction_isolation', 'synchronous_commit'); return null; end $$;
    create trigger see after insert on livehouse_ops.slices execute function public.see()`.execute(db)
  expect(await account.sync()).toMatchObject({ code: 0 })
  const { rows } = await sql<{ setting: string }>`select distinct * from public.seen order by name`.execute(db)
  expect(rows.map(({ setting }) => setting)).toEqual(['off', '0', '0', 'on', 'read committed'])
  await account.expectTruth()
})

test.each(['40001', '40P01'])('a transaction that the server aborts with %s is retried', async (state) => {
  await using account = await startAccount({ channels: 1, viewers: 25 })
  const { db } = account.database
  await sql`create sequence public.tries`.execute(db)
  await sql`create function public.give_way() returns trigger language plpgsql as $$ begin
    if nextval('public.tries') % 3 > 0 then raise sqlstate ${sql.lit(state)}; end if; return null; end $$`.execute(db)
  for (const table of ['slices', 'quarantine'])
    await sql`create trigger give_way after insert on ${sql.table(`livehouse_ops.${table}`)}
      for each statement execute function public.give_way()`.execute(db)
  account.emulator.faults.push({ effect: foreignRow(7), endpoint: 'visitorList', page: 1 })
  const result = await account.sync('visitors')
  expect(result).toMatchObject({ code: 0, errors: [], streams: { visitors: { quarantined: 1 } } })
})

/** A broadcast of two hours four days ago: visits of 5 to 90 minutes, on so many pages of two that the list is cut. */
async function startLongLive(recordFilterTime: Switches['recordFilterTime'], visits: number): Promise<TestAccount> {
  const account = await startAccount({ channels: 1, viewers: 5 })
  account.emulator.switches.recordFilterTime = recordFilterTime
  account.emulator.faults.push({ effect: clampedTo(2) })
  const { records } = firstChannel(account.emulator)
  const record = first(records.rows)
  const beganAt = account.hoursAgo(4 * 24)
  for (let n = 0; n < visits; n++) {
    const enteredAt = beganAt + ((n * 7) % 120) * MINUTE
    const leftAt = enteredAt + (5 + ((n * 11) % 85)) * MINUTE
    records.add({ ...record, recordId: String(900_000 + n), enteredAt, leftAt })
  }
  return account
}

test.each(['entry', 'leave', 'both'] as const)('a long list is read, filtered by: %s', async (recordFilterTime) => {
  await using account = await startLongLive(recordFilterTime, 600)
  for (let night = 0; night < 2; night++) {
    expect(await account.sync(onlyVisits)).toMatchObject({ code: 0 })
    await account.expectTruth(['watch_records'])
    account.clock.passHours(24)
  }
  expect(await account.run(audit, onlyVisits)).toMatchObject({ code: 0 })
})

test('a run is partial where a deep page is refused and no cut shows all visits', async () => {
  await using account = await startLongLive('both', 60)
  account.emulator.faults.push({ effect: refusal(400000), page: 20 })
  expect(await account.sync(onlyVisits)).toMatchObject({ code: 3 })
})

const account = ofFile(() => startAccount({ channels: 1, viewers: 50, days: 2 }))

/** Makes inserts fail as on a server whose disk is full (SQLSTATE 53100). */
const fillDisk = (table: string, isFull = '') => `
  create function public.disk_full() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
  end $$;
  create trigger disk_full before insert on ${table} ${isFull} execute function public.disk_full()`

test('a list with one batch that cannot be written fails, though later batches can be', async () => {
  await using big = await startAccount({ channels: 1, viewers: 2100 })
  const { userId } = first(firstChannel(big.emulator).visitors.rows.toSorted((a, b) => b.lastOnlineAt - a.lastOnlineAt))
  await runQuery(big.database.db, fillDisk('livehouse.visitors', `for each row when (new.user_id = '${userId}')`))
  expect(await big.sync('visitors')).toMatchObject({ code: 1, errors: [{ code: 'db.refused' }] })
})

test.each([
  // Signups are read after other streams have landed.
  ['livehouse.signups', 3],
  ['livehouse_ops.slices', 1],
])('a full disk while %s is written is reported, and with room a sync reads all', async (table, exitCode) => {
  const { db } = account.database
  await runQuery(db, fillDisk(table))
  const { code, errors } = await account.sync()
  expect(code).toBe(exitCode)
  const text = /No space left.* \(53100\)\. Its disk is full: make room there, then run again/
  expect(errors).toContainEqual(expect.objectContaining({ code: 'db.refused', message: expect.stringMatching(text) }))
  await runQuery(db, 'drop function public.disk_full() cascade')
  expect((await account.sync()).code).toBe(0)
  await account.expectTruth()
})

test('an analyst’s open transaction delays no run and no other analyst; a migration stops and names it', async () => {
  await using account = await startAccount()
  expect(await account.run(sync, ['--streams', 'managers'])).toMatchObject({ code: 0 })
  await using analyst = await openAs('livehouse_analyst', account.database)
  await using other = await openAs('livehouse_analyst', account.database)
  await analyst.session.query('begin; select count(*) from livehouse_bi.freshness')
  const { rows } = await analyst.session.query<{ pid: number }>('select pg_backend_pid() as pid')
  const named = `process ${rows[0]?.pid} of login ${analyst.name} since `

  await sql`update livehouse_ops.bi_settings set fingerprint = null`.execute(account.database.db)
  const run = await account.run(sync, ['--streams', 'managers'])
  expect(run).toMatchObject({ code: 0, error: undefined })
  expect(run.remarks.join('\n').split(named)[1]).toMatch(/^\S+ \S+ UTC, on [\w.]+, [\w.]+, [\w.]+ and \d+ more\. /)
  await sql`select count(*) from livehouse_bi.freshness`.execute(other.db)

  const down = await account.run(migrate, ['down'])
  expect(down.error).toMatchObject({ code: 'db.refused', message: expect.stringContaining(named) })
  await analyst.session.query('commit')
  expect(await account.run(migrate, ['down'])).toMatchObject({ code: 0 })
})

/** The newest migration of version 0.1.0. */
const LAST = '0024-indexes-of-runs'
/** What 0.1.0 had written after a sync of the world of this test. */
const rowsOfRelease = readFileSync(join(import.meta.dirname, '../helpers/release-0.1.0.sql'), 'utf8')

test('the data of 0.1.0 is intact after an upgrade, a downgrade and another upgrade', async () => {
  await using account = await startAccount({ isMigrated: false, channels: 1, viewers: 20 })
  const { database, emulator, clock, run } = account
  const { db } = database
  const migrations = Object.entries(await loadMigrations())
  await migrateUp(db, { migrations: Object.fromEntries(migrations.filter(([name]) => name <= LAST)) })
  const columns = sql`select table_schema, table_name, column_name, data_type, is_nullable from information_schema.columns
    where table_schema like 'livehouse%' order by table_schema, table_name, column_name`
  const columnsOfRelease = (await columns.execute(db)).rows
  await sql.raw(rowsOfRelease).execute(db)
  await sql`update livehouse_ops.source set base_url = ${emulator.baseUrl}`.execute(db)
  const release = await holdLock(db, 1)
  expect(await run(migrate, ['up'])).toMatchObject({ error: { message: expect.stringContaining('(version 0.1.0)') } })
  await release()
  const { rows: read } = await sql<{ stream: string }>`select distinct stream from livehouse_ops.slices`.execute(db)
  const names = read.map(({ stream }) => stream)
  expect(names.length).toBeGreaterThan(6)
  const { code, streams } = await account.sync()
  expect({ code, ...streams.signups }).toMatchObject({ code: 0, unchanged: 3 })
  // Readings never find the rows of items that could not be read.
  await sql`delete from livehouse.gifts where extra is not null and removed_at is not null`.execute(db)
  await sql`delete from livehouse.signups where signed_up_at is null and removed_at is not null`.execute(db)
  await account.expectTruth()
  for (const name of names) expect([name, streams[name]]).toMatchObject([name, { inserted: 0, updated: 0, removed: 0 }])
  expect(await run(audit)).toMatchObject({ code: 0 })

  for (const [name] of migrations.filter(([name]) => name > LAST).toReversed())
    expect((await run(migrate, ['down'])).printed).toEqual([`reverted: ${name}`])
  expect((await columns.execute(db)).rows).toEqual(columnsOfRelease)
  await account.expectTruth(names)

  expect(await run(migrate, ['up'])).toMatchObject({ code: 0 })
  expect(await expectKeptDays(db)).toMatchObject({ changed: 0 })
  clock.passHours(2)
  expect(await account.sync()).toMatchObject({ code: 0 })
  await account.expectTruth()
})

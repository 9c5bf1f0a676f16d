import * as fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { refreshFigures } from '../../src/bi/publish/refresh-figures.ts'
import { backfill } from '../../src/cli/backfill.ts'
import { forms } from '../../src/cli/forms.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { migrate } from '../../src/cli/migrate.ts'
import { quarantine } from '../../src/cli/quarantine.ts'
import { sync } from '../../src/cli/sync.ts'
import { quarantineItems } from '../../src/ledger/quarantine/quarantine.ts'
import type { Database } from '../../src/store/database.ts'
import { runQuery } from '../../src/store/pool.ts'
import { expectKeptDays } from '../helpers/expect-kept-days.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { openTransaction } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { startV1Account, V1_BACKFILL } from '../helpers/v1-account.ts'

const database = ofTest(createTestDatabase)

/** A record as a reading writes it: inserted, or updated where its id is known. */
const writtenRecord = fc.record({
  kind: fc.constant('write' as const),
  channel: fc.constantFrom('1', '2'),
  id: fc.nat(9),
  user: fc.constantFrom(null, 'a', 'b', 'c'),
  /** Since midnight of the first day; half of the entries lie at or just before a midnight. */
  enteredMinute: fc.option(fc.oneof(fc.nat(6 * 1440), fc.constantFrom(1439, 2 * 1440 - 1, 2 * 1440))),
  stayMinutes: fc.option(fc.oneof(fc.nat(200), fc.constantFrom(1440, 3000))),
  tellsOnline: fc.constantFrom(true, true, false),
  live: fc.constantFrom(null, 0, 30, 90),
})
const changes = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: writtenRecord },
    fc.record({ kind: fc.constant('delete' as const), channel: fc.constantFrom('1', '2'), id: fc.nat(9) }),
    fc.constantFrom({ kind: 'settings', gap: 5 } as const, { kind: 'settings', gap: 30 } as const),
    { weight: 2, arbitrary: fc.constant({ kind: 'keep' as const }) },
    fc.constant({ kind: 'another' as const }),
    fc.constant({ kind: 'truncate' as const }),
  ),
  { maxLength: 14, size: 'max' },
)

async function play(db: Kysely<Database>, change: typeof changes extends fc.Arbitrary<(infer C)[]> ? C : never) {
  if (change.kind === 'keep') return await refreshFigures(db)
  if (change.kind === 'settings') return void (await publishBi(db, { settings: { broadcastGapMinutes: change.gap } }))
  if (change.kind === 'another') {
    // As another version of livehouse, which noted changed days in another way.
    await sql`comment on function livehouse_ops.note_changed_days() is 'another'`.execute(db)
    await sql`update livehouse_ops.bi_settings set fingerprint = 'another'`.execute(db)
    return void (await publishBi(db))
  }
  if (change.kind === 'truncate') return void (await sql`truncate livehouse.watch_records`.execute(db))
  const { channel, id } = change
  const known = sql`delete from livehouse.watch_records where channel_id = ${channel} and record_id = ${id}`
  if (change.kind === 'delete') return void (await known.execute(db))
  const { user, enteredMinute, stayMinutes, tellsOnline, live } = change
  const entered = sql`timestamptz '2026-11-01 00:00+08' + make_interval(mins => ${enteredMinute}::integer)`
  await sql`
    insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, online_seconds, watch_seconds, live_seconds, api_version, run_id)
    values (${channel}, ${id}, ${user}, ${entered}, ${entered} + make_interval(mins => ${stayMinutes}::integer), ${tellsOnline ? stayMinutes : null}::integer * 60, 60,
      ${stayMinutes}::integer * 60 * ${live}::integer / 100, 2, 1)
    on conflict (channel_id, record_id) do update set user_id = excluded.user_id, entered_at = excluded.entered_at, left_at = excluded.left_at,
      online_seconds = excluded.online_seconds, live_seconds = excluded.live_seconds`.execute(db)
}

test('stored days and broadcasts match their records, whatever has changed since', async () => {
  const { db } = database
  await sql`insert into livehouse.channels (channel_id, run_id) values ('1', 1), ('2', 1)`.execute(db)
  await sql`insert into livehouse_ops.partition_states (stream, partition, is_windowed, covers, latest_slice_id)
    select 'watch_records', 'channel=' || c, true, '{(,)}', 1 from generate_series(1, 2) c`.execute(db)
  let storedDays = 0
  await fc.assert(
    fc.asyncProperty(changes, async (history) => {
      await sql`delete from livehouse.watch_records`.execute(db)
      for (const change of history) await play(db, change)
      await expectKeptDays(db)
      await refreshFigures(db)
      const now = await expectKeptDays(db)
      expect(now.changed).toBe(0)
      storedDays += now.kept
    }),
    { numRuns: 15, endOnFailure: true },
  )
  expect(storedDays).toBeGreaterThan(0)
})

test('a visit with an exit in the year 9999 and no online time lasts a day', async () => {
  await sql`insert into livehouse.channels (channel_id, run_id) values ('1', 1)`.execute(database.db)
  await sql`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, left_at, api_version, run_id)
    values ('1', 1, 'a', '2026-11-01 10:00+08', '9999-12-31 00:00+08', 2, 1)`.execute(database.db)
  expect(await expectKeptDays(database.db)).toEqual({ kept: 0, changed: 3 })
  const minutes = await runQuery(database.db, `select from livehouse_bi.fct_audience_minute where channel_id = '1'`)
  expect(minutes).toHaveLength(1440)
})

/** Each changes stored figures: of viewers, signups and gifts, some with a phone only, some removed, some of nobody. */
const oddChanges: readonly string[] = [
  `insert into livehouse.visitors (channel_id, user_id, first_login_at, visit_count, watch_seconds, phone, run_id) values
    ('1', 'a', '2026-11-01 10:00+08', 2, 70, '13812345678', 1), ('1', 'b', null, 1, null, null, 1), ('2', 'a', '2026-11-02 23:59+08', 0, 0, '13812345678', 1)`,
  `insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, watch_seconds, online_seconds, api_version, run_id) values
    ('1', 1, 'a', '2026-10-31 23:50+08', 60, 1200, 2, 1), ('1', 2, 'a', '2026-11-20 10:00+08', 10, 10, 2, 1), ('1', 3, 'stranger', '2026-11-20 10:00+08', null, null, 1, 1)`,
  `insert into livehouse.watch_records (channel_id, record_id, user_id, watch_seconds, api_version, run_id) values ('1', 4, 'b', 9, 2, 1), ('2', 4, null, 5, 2, 1)`,
  `update livehouse.watch_records set entered_at = '2026-12-01 00:00+08' where record_id = 4`,
  `insert into livehouse.signups (channel_id, question_id, signup_key, user_id, phone, signed_up_at, answers, occurrence, run_id) values
    ('1', 'q', 's1', null, '13812345678', '2026-11-01 10:00+08', '[]', 1, 1), ('1', 'q', 's2', 'asker', null, null, '[]', 1, 1), ('2', 'q', 's3', null, '0', '2026-11-01 10:00+08', '[]', 1, 1)`,
  `insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, visitor_id, phone, amount, occurrence, run_id) values
    ('1', 'cash', 'g1', '2026-10-31 23:50+08', null, '13812345678', 2, 1, 1), ('1', 'prop', 'g2', '2026-11-20 10:00+08', 'giver', null, null, 1, 1), ('1', 'prop', 'g3', null, 'b', null, 1, 1, 1)`,
  `update livehouse.visitors set phone = '13812345678', watch_seconds = 60 where channel_id = '1' and user_id = 'b'`,
  // Two persons, and then a third viewer who joins them into one.
  `insert into livehouse.visitors (channel_id, user_id, assign_id, phone, run_id) values ('1', 'c', 'e1', null, 1), ('1', 'd', null, '13900000008', 1)`,
  `insert into livehouse.visitors (channel_id, user_id, assign_id, phone, run_id) values ('2', 'e', 'E1', '13900000008', 1)`,
  'update livehouse.gifts set removed_at = now() where visitor_id is null',
  `update livehouse.signups set removed_at = now() where user_id = 'asker'`,
  `update livehouse.visitors set removed_at = now() where user_id = 'a'`,
  'delete from livehouse.signups',
  'delete from livehouse.gifts where visitor_id is not null',
  `delete from livehouse.visitors where user_id = 'b'`,
  'truncate livehouse.gifts',
  'truncate livehouse.visitors',
]

test('the stored figures of a channel match its rows, whichever single table has changed since', async () => {
  const { db } = database
  await publishBi(db)
  await sql`insert into livehouse.channels (channel_id, is_test, state, run_id)
    values ('1', false, 'active', 1), ('2', true, 'gone', 1)`.execute(db)
  for (const change of oddChanges) {
    await runQuery(db, change)
    expect((await expectKeptDays(db)).changed, change).toBeGreaterThan(0)
    await refreshFigures(db)
    expect(await expectKeptDays(db), change).toMatchObject({ changed: 0 })
  }
})

test('storing days while slices are being written, or twice at once, loses no record', async () => {
  const { db } = database
  await sql`insert into livehouse.channels (channel_id, run_id) values ('1', 1)`.execute(db)
  await using open = new AsyncDisposableStack()
  const begin = async (id: number) => {
    const trx = open.use(await openTransaction(db))
    await sql`insert into livehouse.watch_records (channel_id, record_id, user_id, entered_at, online_seconds, api_version, run_id)
      values ('1', ${id}, 'u' || ${id}::integer, '2026-11-01 10:00+08', 60, 2, 1)`.execute(trx)
    return trx
  }
  const [first, second, third] = [await begin(1), await begin(2), await begin(3)]
  await first.commit().execute()
  await refreshFigures(db)
  expect(await expectKeptDays(db)).toEqual({ kept: 1, changed: 0 })
  await second.commit().execute()
  expect(await expectKeptDays(db)).toEqual({ kept: 1, changed: 2 })
  await Promise.all([refreshFigures(db), refreshFigures(db), third.commit().execute()])
  await expectKeptDays(db)
  const zone = await sql`update livehouse_ops.bi_settings b set time_zone = null
      from livehouse_ops.bi_settings before returning before.time_zone`.execute(db)
  await refreshFigures(db)
  await sql`update livehouse_ops.bi_settings set time_zone = ${Object(zone.rows[0]).time_zone}`.execute(db)
  await refreshFigures(db)
  expect(await expectKeptDays(db)).toEqual({ kept: 1, changed: 0 })
  const daily = `select viewers, watch_run_id from livehouse_bi.daily_channel where day = '2026-11-01'`
  expect(await runQuery(db, daily)).toEqual([{ viewers: '3', watch_run_id: '1' }])
})

test('every command that changes records leaves the stored days correct', async () => {
  await using account = await startV1Account()
  const { emulator, run } = account
  const { db } = account.database
  const channel = firstChannel(emulator)
  const record = first(channel.records.rows)
  const expectCurrentDays = async (verb: Parameters<typeof run>[0], argv: readonly string[], settings = {}) => {
    expect(await run(verb, argv, settings)).toMatchObject({ code: 0 })
    const { kept, changed } = await expectKeptDays(db)
    expect([argv.join(' '), changed]).toEqual([argv.join(' '), 0])
    account.nextDay()
    return kept
  }
  const days = await expectCurrentDays(sync, [])
  expect(days).toBeGreaterThan(0)

  const edited = { ...record, leftAt: record.leftAt + 86_400, onlineSeconds: 90_000 }
  channel.records.replace(record, edited)
  expect(await expectCurrentDays(sync, [])).toBeGreaterThan(days)
  await expectCurrentDays(ledger, ['forget', '--from', '2026-11-01', '--to', '2026-11-20'])
  channel.records.remove(edited)
  await expectCurrentDays(backfill, ['--from', '2026-11-01', '--to', '2026-11-20'])

  account.setRecords(2, 1)
  const old = first(channel.oldRecords.rows)
  await expectCurrentDays(backfill, V1_BACKFILL)
  channel.records.add({ ...old, nick: 'of version 2', enteredAt: old.enteredAt, onlineSeconds: 600, liveSeconds: 300 })
  await expectCurrentDays(backfill, [...V1_BACKFILL.slice(0, 4), '--streams', 'watch_records'])

  const visit = { first_login_time: '2026-11-15 23:00', last_online_time: '2026-11-16 01:00', online_time: '2:00:00' }
  const raw = JSON.stringify({ record_id: 78, user_id: 'a', ...visit })
  const partition = `channel=${channel.id}`
  const origin = { stream: 'watch_records', partition, runId: '1', timeZone: 'Asia/Shanghai' } as const
  const item = { raw, reason: 'not understood', path: '', headers: null }
  await quarantineItems(db, { ...origin, seenAt: new Date(0) }, [item])
  expect(await run(quarantine, ['retry'])).toMatchObject({ code: 0 })
  // The retry does not store the days: they are computed on demand, and the next run stores them.
  expect(await expectKeptDays(db)).toMatchObject({ changed: 3 })
  await expectCurrentDays(sync, [])
  for (const settings of [{ LIVEHOUSE_BROADCAST_GAP: '1' }, { LIVEHOUSE_BROADCAST_MIN: '1' }])
    await expectCurrentDays(forms, [], settings)
  expect(await run(forms, [], { LIVEHOUSE_IGNORED_IDS: 'x' })).toMatchObject({ code: 0 })
  // The next run groups persons in another way.
  expect((await expectKeptDays(db)).changed).toBeGreaterThan(0)
  await expectCurrentDays(sync, [])
  expect(await run(migrate, ['down'])).toMatchObject({ code: 0 })
  await sql`update livehouse.watch_records set left_at = left_at + interval '1 day', online_seconds = 90000`.execute(db)
  await expectCurrentDays(migrate, ['up'])
  expect(await expectCurrentDays(sync, [])).toBeGreaterThan(days)
})

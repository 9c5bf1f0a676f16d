import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import type { Command } from '../../src/cli/command.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { sync } from '../../src/cli/sync.ts'
import { noCounts, noSlices } from '../../src/core/outcome.ts'
import type { Database } from '../../src/store/database.ts'
import { migrateDown } from '../../src/store/migrate.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startV1Account, V1_BACKFILL, type V1Account } from '../helpers/v1-account.ts'

const RANGE = ['--from', '2026-10-20', '--to', '2026-11-10']

/** Every row of every table, sequences too: a run that is begun and rolled back leaves its mark there. */
async function dump(db: Kysely<Database>): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname like 'livehouse%' order by 1`.execute(
    db,
  )
  const contents = tables.map(async ({ name }) => {
    const { rows } = await sql`select t.*::text as row from ${sql.raw(name)} as t order by 1`.execute(db)
    return [name, rows]
  })
  const { rows: sequences } = await sql`
    select schemaname, sequencename, last_value from pg_sequences where schemaname like 'livehouse%' order by 1, 2`.execute(
    db,
  )
  const { rows: schemas } =
    await sql`select nspname from pg_namespace where nspname like 'livehouse%' order by 1`.execute(db)
  return { contents: await Promise.all(contents), sequences, schemas }
}

/** What is estimated. */
async function dryRunJson(account: Pick<V1Account, 'run'>, verb: Command, argv: readonly string[] = []) {
  const run = await account.run(verb, [...argv, '--dry-run', '--json'])
  expect(run).toMatchObject({ code: 0, error: undefined })
  expect(run.printed).toHaveLength(1)
  const { estimate, ...object } = JSON.parse(run.printed[0] ?? '')
  // What a run prints, with nothing done.
  expect(object).toEqual({
    run_id: null,
    command: verb === sync ? 'sync' : 'backfill',
    status: 'ok',
    started_at: expect.any(String),
    finished_at: expect.any(String),
    resumes_at: null,
    streams: Object.fromEntries(Object.keys(estimate.streams).map((name) => [name, { ...noCounts, slices: noSlices }])),
    errors: [],
    dry_run: true,
  })
  return estimate
}

test.each<[string, boolean]>([
  ['with a schema', true],
  ['without a schema', false],
])(
  'a dry run over an empty database %s asks for totals, writes nothing, and a sync takes as many calls',
  async (_, is) => {
    await using account = await startAccount({ isMigrated: is })
    const { emulator, database, run } = account
    const before = await dump(database.db)
    const estimate = await dryRunJson(account, sync)
    await dryRunJson(account, backfill, RANGE)
    expect(await run(sync, ['--dry-run'])).toMatchObject({ code: 0 })
    expect(await dump(database.db)).toEqual(before)
    const lists = emulator.calls.filter(({ endpoint }) => endpoint !== 'token')
    expect(new Set(lists.map(({ size }) => size))).toEqual(new Set([1]))
    expect(lists.some(({ endpoint }) => endpoint === 'giftRunning')).toBe(false)
    expect(estimate.streams.watch_records).toMatchObject({
      slices: 2,
      is_at_least: false,
      estimated_from: { asked: 2 },
    })
    expect(estimate.streams.gifts).toMatchObject({
      slices: 4,
      calls: 4,
      is_at_least: true,
      estimated_from: { unknown: 4 },
    })

    const made = await run(sync, ['--json'])
    const { streams } = JSON.parse(made.printed.join())
    for (const name of ['visitors', 'watch_records', 'questionnaires', 'managers', 'manager_usage'])
      expect([name, estimate.streams[name].calls]).toEqual([name, streams[name].calls])
    for (const name of ['gifts', 'signups'])
      expect(estimate.streams[name].calls).toBeLessThanOrEqual(streams[name].calls)
    const sliceCount = Object.values<number>(streams.signups.slices).reduce((sum, count) => sum + count, 0)
    expect(estimate.streams.signups.slices).toBe(sliceCount)
  },
)

test('where a migration is pending a dry run says so, in place of reading a ledger of before', async () => {
  await using account = await startAccount()
  await migrateDown(account.database.db)
  expect((await account.run(sync, ['--dry-run'])).error).toMatchObject({ code: 'db.pendingMigrations' })
})

test('what has been read before is estimated from the ledger alone, and nothing is written', async () => {
  await using account = await startAccount()
  const { emulator, database, run } = account
  await run(sync)
  await run(sync)
  const [before, calls] = [await dump(database.db), emulator.calls.length]
  const estimate = await dryRunJson(account, sync)
  expect(emulator.calls).toHaveLength(calls)
  expect(await dump(database.db)).toEqual(before)
  expect(estimate).toMatchObject({ asked_calls: 0 })
  const { streams } = JSON.parse((await run(sync, ['--json'])).printed.join())
  for (const [name, stream] of Object.entries<{ calls: number }>(streams))
    expect([name, estimate.streams[name].calls]).toEqual([name, stream.calls])
})

test('a backfill that was begun is estimated by what is left of it, and by the whole with --restart', async () => {
  await using account = await startAccount()
  const { emulator, run } = account
  const [first = ''] = emulator.channelIds
  const argv = [...RANGE, '--streams', 'watch_records']
  emulator.faults.push({ effect: refusal(403002), endpoint: 'userRecordList', channelId: first })
  expect(await run(backfill, argv)).toMatchObject({ code: 3 })
  emulator.faults.length = 0
  expect((await dryRunJson(account, backfill, argv)).streams.watch_records.slices).toBe(1)
  expect((await dryRunJson(account, backfill, [...argv, '--restart'])).streams.watch_records.slices).toBe(2)
  await run(ledger, ['forget', ...argv])
  expect((await dryRunJson(account, backfill, [...argv, '--only-gaps'])).streams.watch_records.slices).toBe(2)
})

test('a dry run tells the days, spends no call, and knows what has been read before', async () => {
  await using v1 = await startV1Account()
  v1.setRecords(2420)
  const dryRun = async () => await dryRunJson(v1, backfill, V1_BACKFILL)
  const estimated = async () => (await dryRun()).streams.watch_records_v1
  expect(await estimated()).toMatchObject({ calls: 2, is_at_least: true, days: 1, calls_a_day: 10 })
  expect(v1.callsOn46()).toEqual([])
  for (let day = 1; day <= 2; day++) {
    await v1.run(backfill, V1_BACKFILL)
    // What is begun takes two calls at least, what was never read one.
    expect(await estimated()).toMatchObject({ calls: 3, is_at_least: true, days: 1 })
    v1.nextDay()
  }
  await v1.run(backfill, V1_BACKFILL)
  v1.nextDay()
  const spent = v1.callsOn46().length
  expect(await dryRun()).toMatchObject({
    calls: 27,
    minutes: { 5: 0, 20: 0 },
    streams: { watch_records_v1: { calls: 27, is_at_least: false, days: 3 } },
  })
  const text = (await v1.run(backfill, [...V1_BACKFILL, '--dry-run'])).printed.join('\n')
  expect(text).toContain('watch_records_v1: 3 days or more at 10 calls a day')

  await v1.run(backfill, V1_BACKFILL)
  v1.nextDay()
  expect(await estimated()).toMatchObject({ calls: 18, is_at_least: false, days: 2 })
  expect(v1.callsOn46()).toHaveLength(spent + 10)
})

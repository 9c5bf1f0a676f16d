import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrateDown } from '../../src/bi/publish/migrate-down.ts'
import { backfill } from '../../src/cli/backfill.ts'
import type { Command } from '../../src/cli/command.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { sync } from '../../src/cli/sync.ts'
import { noCounts, noSlices } from '../../src/core/slice.ts'
import type { Database } from '../../src/store/database.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'

const RANGE = ['--from', '2026-10-20', '--to', '2026-11-10']

/** Every row of every table, and the sequences, which even a run that is rolled back advances. */
async function dump(db: Kysely<Database>): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname like 'livehouse%' order by 1`.execute(db)
  const contents = tables.map(async ({ name }) => {
    const { rows } = await sql`select t.*::text as row from ${sql.raw(name)} as t order by 1`.execute(db)
    return [name, rows]
  })
  const { rows: sequences } = await sql`
    select schemaname, sequencename, last_value from pg_sequences
    where schemaname like 'livehouse%' order by 1, 2`.execute(db)
  const { rows: schemas } =
    await sql`select nspname from pg_namespace where nspname like 'livehouse%' order by 1`.execute(db)
  return { contents: await Promise.all(contents), sequences, schemas }
}

async function dryRunJson(account: Pick<TestAccount, 'run'>, verb: Command, argv: readonly string[] = []) {
  const run = await account.run(verb, [...argv, '--dry-run', '--json'])
  expect(run).toMatchObject({ code: 0, error: undefined })
  expect(run.printed).toHaveLength(1)
  const { plan, ...object } = JSON.parse(run.printed[0] ?? '')
  // The rest is the outcome of a run that did nothing, in the order of the contract.
  const outcome = {
    run_id: null,
    command: verb === sync ? 'sync' : 'backfill',
    status: 'ok',
    started_at: expect.any(String),
    finished_at: expect.any(String),
    resumes_at: null,
    streams: Object.fromEntries(Object.keys(plan).map((name) => [name, { ...noCounts, slices: noSlices }])),
    errors: [],
    dry_run: true,
  }
  expect(object).toEqual(outcome)
  expect(Object.keys(object)).toEqual(Object.keys(outcome))
  return plan
}

test.each([true, false])('a dry run prints what would be read, and writes nothing; schema: %s', async (isMigrated) => {
  await using account = await startAccount({ isMigrated })
  const { emulator, database, run } = account
  const before = await dump(database.db)
  const plan = await dryRunJson(account, sync)
  await dryRunJson(account, backfill, RANGE)
  expect(await run(sync, ['--dry-run'])).toMatchObject({ code: 0 })
  expect(await dump(database.db)).toEqual(before)
  expect(emulator.calls.filter(({ endpoint }) => endpoint !== 'token')).toEqual([])
  const to = expect.stringMatching(/^2026-11-20 /)
  expect(plan.watch_records).toEqual({ slices: 2, from: '2015-01-01 00:00:00', to })
  expect(plan.visitors).toEqual({ slices: 2, from: null, to: null })
})

test('a dry run fails while a migration is pending', async () => {
  await using account = await startAccount()
  await migrateDown(account.database.db)
  expect((await account.run(sync, ['--dry-run'])).error).toMatchObject({ code: 'db.pendingMigrations' })
})

test('a dry run of an unfinished backfill prints what is left of it, and with --restart all of it', async () => {
  await using account = await startAccount()
  const { emulator, run } = account
  const [first = ''] = emulator.channelIds
  const argv = [...RANGE, '--streams', 'watch_records']
  emulator.faults.push({ effect: refusal(403002), endpoint: 'userRecordList', channelId: first })
  expect(await run(backfill, argv)).toMatchObject({ code: 3 })
  emulator.faults.length = 0
  expect((await dryRunJson(account, backfill, argv)).watch_records.slices).toBe(1)
  expect((await dryRunJson(account, backfill, [...argv, '--restart'])).watch_records.slices).toBe(2)
  await run(ledger, ['forget', ...argv])
  expect((await dryRunJson(account, backfill, [...argv, '--only-gaps'])).watch_records.slices).toBe(2)
})

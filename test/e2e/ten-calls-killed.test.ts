import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectTruth } from '../helpers/expect-truth.ts'
import { hang } from '../helpers/fault-effects.ts'
import { meanwhile } from '../helpers/numbered-lists.ts'
import { ofTest } from '../helpers/of-file.ts'
import { untilBlocked, untilExpired } from '../helpers/own-locks.ts'
import { type Child, startChild } from '../helpers/start-child.ts'
import { V1_BACKFILL, startV1Account } from '../helpers/v1-account.ts'

const account = ofTest(startV1Account)
/**
 * `livehouse backfill` as a process of its own, whose clock is the real one: of the service's day it learns from the service. With
 * `--only-gaps`, as one that begins when all has landed would read the range once more.
 */
const startBackfill = (): Child => startChild(['backfill', ...V1_BACKFILL, '--only-gaps'], account.environment)

const readTaken = async () =>
  await account.database.db.selectFrom('livehouse_ops.call_budget').select('calls').execute()

async function kill(child: Child): Promise<void> {
  child.process.kill('SIGKILL')
  expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
}

/** Kills a process that has taken a call and has not made it: while its database commits. */
async function killBeforeCall(): Promise<void> {
  const { db } = account.database
  await sql`create function public.hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(4242); return null; end $$`.execute(db)
  await sql`create constraint trigger hold after insert on livehouse_ops.call_budget deferrable initially deferred
    for each row execute function public.hold()`.execute(db)
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(4242)`.execute(trx)
    const child = startBackfill()
    await untilBlocked(db, sql`locktype = 'advisory' and objid = 4242`, [child])
    await kill(child)
  })
  await untilExpired(db)
  expect(await readTaken()).toEqual([{ calls: 1 }])
  await sql`drop trigger hold on livehouse_ops.call_budget`.execute(db)
}

/** Kills a process at its next call, which the service counts and does not answer. */
async function killInCall(): Promise<void> {
  const child = startBackfill()
  const effect = { ...hang(), ...meanwhile(() => void child.process.kill('SIGKILL')) }
  account.emulator.faults.push({ effect, endpoint: 'userRecords', times: 1 })
  expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
  await untilExpired(account.database.db)
}

/** Kills a process that has a page and is about to write this of it: its rows, or how far the reading has come. */
async function killBeforeWriting(table: string): Promise<void> {
  const { db } = account.database
  await db.transaction().execute(async (trx) => {
    await sql`lock table ${sql.table(table)} in share mode`.execute(trx)
    const child = startBackfill()
    await untilBlocked(db, sql`relation = ${table}::regclass`, [child])
    await kill(child)
  })
  await untilExpired(db)
}

test('killed between taking a call and making it, in the call, and before the commit, two at once: ten a day, and all rows', async () => {
  account.setRecords(810, 120)
  await killBeforeCall()
  await killInCall()
  await killBeforeWriting('livehouse.watch_records')
  await killBeforeWriting('livehouse_ops.open_slices')
  expect(account.callsByDay()).toEqual([3])
  expect(await readTaken()).toEqual([{ calls: 4 }])

  for (let day = 1; ; day++) {
    const ends = await Promise.all([startBackfill().ended, startBackfill().ended])
    expect(Math.max(...account.callsByDay())).toBeLessThanOrEqual(10)
    if (ends.every(({ code }) => code === 0)) break
    expect(ends.map(({ code }) => code).filter((code) => code !== 0 && code !== 4)).toEqual([])
    expect(day).toBeLessThan(4)
    account.nextDay()
  }
  // Of 13 pages, two of them empty, the killed ones have cost four calls: one that was never made, and three whose page was lost.
  expect(account.callsOn46().length).toBeGreaterThanOrEqual(13 + 3)
  await expectTruth(account, ['watch_records_v1'])
  const slices = await account.database.db.selectFrom('livehouse_ops.slices').select('distinct_rows').execute()
  // One that begins when the other has finished reads again.
  expect([...new Set(slices.map(({ distinct_rows: rows }) => rows))].sort()).toEqual(['120', '810'])
})

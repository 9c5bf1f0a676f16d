import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { run } from '../../src/cli/run.ts'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { missingRow, noRows, withheldRows } from '../helpers/fault-effects.ts'
import { first, firstChannel, firstRows } from '../helpers/first-rows.ts'
import { startAccount, type TestAccount } from '../helpers/start-account.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const folder = createTemporaryFolder('jobs')
let account: TestAccount

beforeEach(async ({ task }) => {
  account = await startAccount({ viewers: /border of two pages/.test(task.name) ? 900 : 150 })
})
afterEach(async () => await account[Symbol.asyncDispose]())

/** A sync of these streams that is green. @returns its slices by proof, of the first stream */
async function read(...streams: readonly string[]): Promise<Record<string, number>> {
  const { code, printed } = await account.run(sync, ['--streams', streams.join(','), '--json'])
  expect(code, printed.join()).toBe(0)
  return JSON.parse(printed.join()).streams[streams[0] ?? ''].slices
}

/** From when on gifts were asked for since so many calls, by the day; each once. */
function askedSince(calls: number): readonly string[] {
  const days = account.emulator.calls.slice(calls).map(({ params }) => String(params.startTime).slice(0, 10))
  return [...new Set(days)].sort()
}

async function readProven() {
  const { rows } = await sql`
    select distinct last_proof, is_proven from livehouse_bi.freshness where stream = 'gifts'`.execute(
    account.database.db,
  )
  return rows
}

async function count(where: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ n: string }>`select count(*) as n from ${where}`.execute(account.database.db)
  return Number(rows[0]?.n)
}

test.each<[string, FaultEffect]>([
  ['blank', noRows()],
  ['halved', withheldRows((item) => JSON.stringify(item).length % 2 === 0)],
])(
  'a %s first answer to a list without a total is made good an hour later, and agreed by a third',
  async (_, effect) => {
    account.emulator.faults.push({ effect, endpoint: 'giftRunning' })
    expect(await read('gifts')).toMatchObject({ unverifiable: 4, agreed: 0 })
    account.emulator.faults.splice(0)
    await expect(expectTruth(account, ['gifts'])).rejects.toThrow('gifts')

    account.clock.nowMs += HOUR_MS
    expect(await read('gifts')).toMatchObject({ unverifiable: 4 })
    await expectTruth(account, ['gifts'])
    account.clock.nowMs += HOUR_MS
    expect(await read('gifts')).toMatchObject({ unverifiable: 4, agreed: 4 })
  },
)

test('an empty first answer with a total settles nothing: the next night has what it lacked', async () => {
  account.emulator.faults.push({ effect: noRows(), endpoint: 'userRecordList' })
  await read('watch_records')
  account.emulator.faults.splice(0)
  account.clock.nowMs += 24 * HOUR_MS
  await read('watch_records')
  await expectTruth(account, ['watch_records'])
})

test('the history of gifts is read a second time when an hour has passed, and then no more', async () => {
  await read('gifts')
  account.clock.nowMs += HOUR_MS / 2
  const soon = account.emulator.calls.length
  expect(await read('gifts')).toMatchObject({ agreed: 0 })
  expect(askedSince(soon)).not.toContain('2014-12-31')

  account.clock.nowMs += HOUR_MS
  const later = account.emulator.calls.length
  expect(await readProven()).toEqual([{ last_proof: 'unverifiable', is_proven: false }])
  expect(await read('gifts')).toMatchObject({ agreed: 4, unverifiable: 4 })
  expect(await readProven()).toEqual([{ last_proof: 'agreed', is_proven: true }])
  const { printed } = await account.run(status, ['--json'])
  expect(JSON.parse(printed.join()).streams.gifts.partitions).toMatchObject({ agreed: 4, unverifiable: 0 })
  // Whether the newest days of a list are asked for by themselves too depends on which list comes first.
  expect(askedSince(later).filter((day) => day < '2026-11')).toEqual(['2014-12-31'])
  account.clock.nowMs += DAY_MS
  const after = account.emulator.calls.length
  await read('gifts')
  expect(askedSince(after)).toEqual(['2026-11-19'])
  expect(account.emulator.calls.length - after).toBe(7)
})

test('readings have pages of the size that the service serves and of one row less in turn', async () => {
  const { id, gifts } = firstChannel(account.emulator)
  const gift = first(gifts.rows)
  const hourAgo = wallTimeAt(account.clock.nowMs - HOUR_MS, 'Asia/Shanghai')
  for (let minute = 0; minute < 130; minute++) gifts.add({ ...gift, givenAt: hourAgo - minute * 60 })
  const sizes: unknown[] = []
  for (let hour = 0; hour < 4; hour++) {
    account.clock.nowMs += HOUR_MS
    const before = account.emulator.calls.length
    await read('gifts')
    const calls = account.emulator.calls.slice(before).filter(({ page, channelId }) => page === 2 && channelId === id)
    sizes.push(calls.flatMap(({ params }) => (params.type === gift.type ? [params.perPage] : [])))
  }
  // The last one is looked at twice.
  expect(sizes).toEqual([100, 99, 100, 99].map((size) => [size, size]))
})

test('a row that is lost at the border of two pages comes with the second reading, which has other pages', async () => {
  account.emulator.faults.push({ effect: missingRow(), endpoint: 'giftRunning', page: 2 })
  await read('gifts')
  await expect(expectTruth(account, ['gifts'])).rejects.toThrow('gifts')
  account.clock.nowMs += HOUR_MS
  await read('gifts')
  await expectTruth(account, ['gifts'])
  account.clock.nowMs += HOUR_MS
  await read('gifts')
  expect(await count(sql`livehouse.gifts where removed_at is not null`)).toBe(0)
})

test.each(['gifts', 'signups'] as const)(
  'a withdrawn row of %s that grows older than the lookback is marked all the same, and its range settles with the next',
  async (table) => {
    const channel = firstChannel(account.emulator)
    const list = table === 'gifts' ? channel.gifts : first(channel.questionnaires.rows).signups
    const streams = table === 'gifts' ? ['gifts'] : ['signups', 'questionnaires']
    await read(...streams)
    const row = list.rows.at(-1)
    Reflect.apply(list.remove, list, [row])
    const isMarked = async () =>
      (await count(sql`${sql.table(`livehouse.${table}`)} where removed_at is not null`)) === 1
    const nights: boolean[] = []
    for (let night = 0; night < 3; night++) {
      account.clock.nowMs += 3 * DAY_MS
      await read(...streams)
      nights.push(await isMarked())
    }
    expect(nights).toEqual([false, true, true])
    account.clock.nowMs += 3 * DAY_MS
    const young = wallTimeAt(account.clock.nowMs - HOUR_MS, 'Asia/Shanghai')
    for (const { gifts, questionnaires } of account.emulator.world.channels.values()) {
      gifts.add(
        ...gifts.rows.slice(0, 1).map((gift) => ({ ...gift, type: Reflect.get(Object(row), 'type'), givenAt: young })),
      )
      const [signups] = questionnaires.rows.map(({ signups }) => signups)
      signups?.add(...signups.rows.slice(0, 1).map((signup) => ({ ...signup, signedUpAt: young })))
    }
    await read(...streams)
    const at = sql`${new Date(account.clock.nowMs - 5 * DAY_MS)} at time zone 'Asia/Shanghai'`
    const settled = sql`(select distinct partition from livehouse_ops.slices where stream = ${table} and settled @> ${at}) as s`
    expect(await count(settled)).toBe(
      await count(sql`(select distinct partition from livehouse_ops.slices
      where stream = ${table}) as s`),
    )
  },
)

test('the only gift of a channel is marked when two empty readings an hour apart miss it, and not before', async () => {
  const { gifts } = firstChannel(account.emulator)
  const given = gifts.rows.filter(({ type }) => type === 'cash').sort((a, b) => b.givenAt - a.givenAt)
  for (const gift of given.slice(1)) gifts.remove(gift)
  await read('gifts')
  gifts.remove(first(given))
  const marks: number[] = []
  for (const hours of [1, 0, 1, 24]) {
    account.clock.nowMs += hours * HOUR_MS
    await read('gifts')
    marks.push(await count(sql`livehouse.gifts where removed_at is not null`))
  }
  expect(marks).toEqual([0, 0, 1, 1])
})

test.each(['gifts', 'signups'] as const)(
  '%s that do not come on three nights of empty answers are back with the first night that has them',
  async (table) => {
    const { channel, gift, form, signup } = firstRows(account.emulator)
    const young = wallTimeAt(account.clock.nowMs - HOUR_MS, 'Asia/Shanghai')
    channel.gifts.add({ ...gift, givenAt: young })
    form.signups.add({ ...signup, signedUpAt: young })
    const streams = table === 'gifts' ? ['gifts'] : ['signups', 'questionnaires']
    await read(...streams)
    account.emulator.faults.push({ effect: noRows(), endpoint: table === 'gifts' ? 'giftRunning' : 'signupRecord' })
    for (let night = 0; night < 3; night++) {
      account.clock.nowMs += DAY_MS
      await read(...streams)
    }
    const countRemoved = async () => await count(sql`${sql.table(`livehouse.${table}`)} where removed_at is not null`)
    expect(await countRemoved()).toBeGreaterThan(0)
    account.emulator.faults.splice(0)
    account.clock.nowMs += DAY_MS
    await read(...streams)
    expect(await countRemoved()).toBe(0)
    await expectTruth(account, [table])
  },
)

test('a job with a long lookback skips no day of what nightly syncs have read and the ledger has joined', async () => {
  await read('gifts')
  for (let night = 0; night < 12; night++) {
    account.clock.nowMs += DAY_MS
    await read('gifts')
  }
  const runJob = async () => {
    const calls = account.emulator.calls.length
    writeFileSync(
      join(folder, 'deep.ts'),
      `export default { cron: '@weekly', streams: ['gifts'], lookbackDays: { gifts: 5 } }`,
    )
    expect(await account.run(run, ['deep'], { LIVEHOUSE_JOBS_DIR: folder })).toMatchObject({ code: 0 })
    return askedSince(calls)
  }
  expect(await runJob()).toEqual(['2026-11-16'])
})

test('a settled range in which a backfill misses a gift is read again by the next sync, and no other is', async () => {
  const { gifts } = firstChannel(account.emulator)
  await read('gifts')
  account.clock.nowMs += HOUR_MS
  await read('gifts')
  gifts.remove(first(gifts.rows.toSorted((a, b) => a.givenAt - b.givenAt)))
  const range = ['--from', '2026-09-01', '--to', '2026-11-10', '--streams', 'gifts']
  expect(await account.run(backfill, range)).toMatchObject({ code: 0 })
  expect(await count(sql`livehouse.gifts where removed_at is not null`)).toBe(0)
  account.clock.nowMs += DAY_MS
  const calls = account.emulator.calls.length
  await read('gifts')
  expect(await count(sql`livehouse.gifts where removed_at is not null`)).toBe(1)
  expect(askedSince(calls)).not.toContain('2014-12-31')
})

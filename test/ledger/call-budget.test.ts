import * as fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { hasCode } from '../../src/core/errors.ts'
import { type BudgetSettings, callBudget } from '../../src/ledger/call-budget.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { errorOf } from '../helpers/connect-client.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { withParameters } from '../helpers/with-parameters.ts'

const settings: BudgetSettings = { v1Budget: 3, v1BudgetScope: 'account', timeZone: 'Asia/Shanghai' }
const { signal } = new AbortController()
const ownClock = { now: () => Date.parse('2027-01-01T00:00:00Z') }

const database = ofFile(createTestDatabase)
beforeEach(async () => void (await database.db.deleteFrom('livehouse_ops.call_budget').execute()))

const readRows = async () =>
  await database.db
    .selectFrom('livehouse_ops.call_budget')
    .select(['scope', 'service_day', 'calls'])
    .orderBy('scope')
    .orderBy('service_day')
    .execute()

/** Reserves a call at a time of the service's clock. @returns the day it was charged to, or `until` when to wait */
async function reserve(at: string, changes: Partial<BudgetSettings> = {}, channelId = '9', db = database.db) {
  try {
    const reserve = callBudget(db, { ...settings, ...changes }, ownClock)
    return (await reserve(channelId, Date.parse(`${at}${changes.timeZone ? 'Z' : '+08:00'}`), signal)).serviceDay
  } catch (error) {
    if (hasCode(error, 'api.budgetSpent')) return `until ${error.details.resumesAt}`
    throw error
  }
}

const FIVE_PAST_TOMORROW = 'until 2026-11-20T16:05:00.000Z'

test.each([
  ['23:54:59', '2026-11-20'],
  ['23:55:00', FIVE_PAST_TOMORROW],
  ['23:59:59', FIVE_PAST_TOMORROW],
  ['00:00:00', 'until 2026-11-19T16:05:00.000Z'],
  ['00:04:59', 'until 2026-11-19T16:05:00.000Z'],
  ['00:05:00', '2026-11-20'],
])('a call at %s: %s', async (time, expected) => {
  expect(await reserve(`2026-11-20T${time}`)).toBe(expected)
  expect(await readRows()).toHaveLength(expected.startsWith('until') ? 0 : 1)
})

test('if daylight saving begins at midnight, the day and its margin begin at 1:00', async () => {
  const cairo = { timeZone: 'Africa/Cairo' }
  expect(await reserve('2026-04-23T21:54:59', cairo)).toBe('2026-04-23')
  expect(await reserve('2026-04-23T22:04:59', cairo)).toBe('until 2026-04-23T22:05:00.000Z')
  expect(await reserve('2026-04-23T22:05:00', cairo)).toBe('2026-04-24')
})

test('a clock that was set back gets no new day, and the message names the recorded day', async () => {
  for (const hour of ['09', '10']) await reserve(`2026-11-21T${hour}:00:00`)
  expect(await reserve('2026-11-20T23:58:00')).toBe('until 2026-11-21T16:05:00.000Z')
  expect(await reserve('2026-11-20T12:00:00')).toBe('2026-11-21')
  const at = Date.parse('2026-11-20T12:00:00Z')
  const error = await errorOf(callBudget(database.db, settings, ownClock)('9', at, signal))
  expect(error).toMatchObject({ details: { resumesAt: '2026-11-21T16:05:00.000Z' } })
  expect(String(error)).toMatch(/3 calls of 2026-11-21 are spent.*the clock shows 2026-11-20/)
  expect(await readRows()).toMatchObject([{ service_day: '2026-11-21', calls: 3 }])
})

test('a host whose clock is a day behind does not use up the calls of the right day', async () => {
  const nowMs = Date.now()
  // A zone in which it is noon now, because the database uses the real time.
  const hoursBehind = new Date(nowMs).getUTCHours() - 12
  const noonSettings = { ...settings, timeZone: `Etc/GMT${hoursBehind < 0 ? '' : '+'}${hoursBehind}` }
  const callAt = async (ms: number) => await callBudget(database.db, noonSettings, { now: () => ms })('9', ms, signal)
  for (let call = 0; call < noonSettings.v1Budget; call++) await callAt(nowMs)
  for (const daysBehind of [1, 0]) {
    expect(await errorOf(callAt(nowMs - daysBehind * 86_400_000))).toMatchObject({ code: 'api.budgetSpent' })
  }
})

test('a change of scope gives no new calls: account and channels have what the other scope has left', async () => {
  const byChannel = { v1BudgetScope: 'channel' } as const
  for (const channelId of ['9', '10']) await reserve('2026-11-20T09:00:00', byChannel, channelId)
  expect(await reserve('2026-11-20T12:00:00')).toBe('2026-11-20')
  expect(await reserve('2026-11-20T12:00:00')).toBe(FIVE_PAST_TOMORROW)

  for (const hour of ['09', '10']) expect(await reserve(`2026-11-21T${hour}:00:00`)).toBe('2026-11-21')
  for (const channelId of ['9', '10']) {
    expect(await reserve('2026-11-21T12:00:00', byChannel, channelId)).toBe('2026-11-21')
    expect(await reserve('2026-11-21T12:00:00', byChannel, channelId)).toBe('until 2026-11-21T16:05:00.000Z')
  }
})

test('a reserved call is durable, even if the database commits asynchronously', async () => {
  await using quick = await openDatabase(withParameters(database.url, { options: '-c synchronous_commit=off' }))
  const commits: unknown[] = []
  await database.db.transaction().execute(async (trx) => {
    await sql`create function public.note() returns trigger language plpgsql as $$
      begin
        perform set_config('note.commit', current_setting('synchronous_commit'), false);
        return null;
      end $$`.execute(trx)
    await sql`create constraint trigger note after insert on livehouse_ops.call_budget deferrable initially deferred
      for each row execute function public.note()`.execute(trx)
  })
  try {
    await quick.connection().execute(async (session) => {
      await reserve('2026-11-20T09:00:00', {}, '9', session)
      const { rows } = await sql<{ outside: string; inside: string }>`
        select current_setting('synchronous_commit') as outside,
          current_setting('note.commit') as inside`.execute(session)
      commits.push(...rows)
    })
  } finally {
    await sql`drop trigger note on livehouse_ops.call_budget`.execute(database.db)
  }
  expect(commits).toEqual([{ outside: 'off', inside: 'on' }])
})

test('no day is overspent, however many processes reserve calls at once and whatever their clocks show', async () => {
  await using other = await openDatabase(database.url)
  const reservation = fc.record({
    day: fc.integer({ min: 1, max: 4 }),
    hour: fc.integer({ min: 1, max: 22 }),
    channelId: fc.constantFrom('9', '10'),
    isOther: fc.boolean(),
  })
  const rounds = fc.array(fc.array(reservation, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(rounds, fc.constantFrom('account', 'channel'), async (plan, v1BudgetScope) => {
      await database.db.deleteFrom('livehouse_ops.call_budget').execute()
      const latest = new Map<string, string>()
      const reserved = new Map<string, number>()
      for (const round of plan) {
        const results = await Promise.all(
          round.map(async ({ day, hour, channelId, isOther }) => {
            const at = `2026-11-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00`
            return { channelId, day: await reserve(at, { v1BudgetScope }, channelId, isOther ? other : database.db) }
          }),
        )
        for (const { channelId, day } of results.filter((each) => !each.day.startsWith('until'))) {
          const scope = v1BudgetScope === 'account' ? 'account' : `channel=${channelId}`
          // Never a day before the latest one on record at the start of the round.
          expect(day >= (latest.get(scope) ?? '')).toBe(true)
          reserved.set(`${scope} ${day}`, (reserved.get(`${scope} ${day}`) ?? 0) + 1)
        }
        for (const { scope, service_day: day } of await readRows())
          latest.set(scope, [latest.get(scope) ?? '', day].sort().at(-1) ?? day)
      }
      const counts = (await readRows()).map(({ scope, service_day: day, calls }) => [`${scope} ${day}`, calls])
      expect(new Map(counts.map(([name, calls]) => [name, calls]))).toEqual(reserved)
      expect(Math.max(...reserved.values())).toBeLessThanOrEqual(settings.v1Budget)
    }),
    { numRuns: 25 },
  )
})

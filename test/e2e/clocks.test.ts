import { describe, expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import type { Command } from '../../src/cli/command.ts'
import { exitCodeOfError } from '../../src/cli/exit-codes.ts'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { meanwhile } from '../helpers/fault-effects.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { startAccount } from '../helpers/start-account.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const account = ofTest(() => startAccount({ viewers: 20 }))

async function syncGreen(): Promise<void> {
  expect(await account.sync()).toMatchObject({ code: 0 })
}

/** Does `work` with this machine's clock `hours` ahead of the service's, and then sets it right again. */
async function withClockAhead(hours: number, work: () => Promise<void>): Promise<void> {
  account.clock.passHours(hours)
  account.emulator.conditions.clockAheadMs = -hours * HOUR_MS
  await work()
  account.clock.nowMs -= hours * HOUR_MS
  account.emulator.conditions.clockAheadMs = 0
}

const shanghaiNow = () => (account.clock.nowMs + account.emulator.conditions.clockAheadMs) / 1000 + 8 * HOUR

function addRecentRows(number: number): void {
  const { channel, visitor, record, gift, form, signup } = firstRows(account.emulator)
  const at = shanghaiNow() - HOUR
  channel.visitors.add({ ...visitor, userId: `v${number}` })
  channel.records.add({ ...record, recordId: `${number}`, enteredAt: at, leftAt: at + MINUTE })
  channel.gifts.add({ ...gift, giftId: number, givenAt: at })
  form.signups.add({ ...signup, userId: `u${number}`, signedUpAt: at })
}

describe("bounds follow the service's clock, whatever this machine's clock shows", () => {
  test.each([96, -25])('a clock %i hours ahead in one run loses no late gift, longer visit or usage', async (hours) => {
    const { channel, gift, record } = firstRows(account.emulator)
    const now = shanghaiNow()
    const young = { ...record, recordId: '77001', enteredAt: now - 60 * HOUR, leftAt: now - 59 * HOUR }
    channel.records.add(young)
    await syncGreen()
    await withClockAhead(hours, async () => {
      await syncGreen()
      await account.expectTruth(['manager_usage'])
    })
    channel.gifts.add({ ...gift, giftId: 77, givenAt: now - 20 * HOUR })
    channel.records.replace(young, { ...young, leftAt: young.leftAt + HOUR, onlineSeconds: young.onlineSeconds + HOUR })
    account.clock.passHours(1)
    await syncGreen()
    await account.expectTruth()
  })

  const gaps = ['--only-gaps', '--from', '2026-11-20', '--to', '2026-11-28', '--streams', 'gifts,watch_records,signups']
  test.each<[string, string, Command, readonly string[]]>([
    ['all of a run', 'sync', sync, []],
    ['the rest of a run', 'sync', sync, []],
    ['all of a run', 'backfill of gaps', backfill, gaps],
  ])('a service four days ahead for %s hides nothing from a %s a week later', async (part, _, verb, argv) => {
    const { form, signup } = firstRows(account.emulator)
    const jump = () => void (account.emulator.conditions.clockAheadMs = 4 * DAY_MS)
    if (part === 'all of a run') jump()
    // Signups are read after the questionnaire lists.
    else account.emulator.faults.push({ effect: meanwhile(jump), endpoint: 'getQuestionList' })
    const young = { ...signup, userId: 'young', signedUpAt: shanghaiNow() - 20 * HOUR }
    form.signups.add(young)
    await syncGreen()
    account.emulator.conditions.clockAheadMs = 0
    account.emulator.faults.splice(0)
    if (verb === sync) form.signups.replace(young, { ...young, nick: 'changed' })
    for (let day = 1; day <= 7; day++) {
      account.clock.passHours(24)
      addRecentRows(day)
    }
    expect(await account.run(verb, argv)).toMatchObject({ code: 0 })
    await account.expectTruth(['gifts', 'watch_records', 'signups'])
  })

  test('a stream landed days ahead of now is not fresh until a sync reads it at the right time', async () => {
    await syncGreen()
    account.emulator.conditions.clockAheadMs = 4 * DAY_MS
    await account.sync(['--channels', String(account.emulator.channelIds[0])])
    account.emulator.conditions.clockAheadMs = 0
    const printed = expect.arrayContaining([expect.stringMatching(/^✗ visitors of .*: last landed 4 days ahead of/)])
    expect(await account.run(status, ['--max-age', '26h'])).toMatchObject({ code: 3, printed })
    await syncGreen()
    expect(await account.run(status, ['--max-age', '26h'])).toMatchObject({ code: 0 })
  })

  test("a machine ten days behind or ahead backfills and audits by the service's time", async () => {
    const from = ['--from', '2026-11-18']
    await withClockAhead(-240, async () => {
      await syncGreen()
      expect(await account.run(backfill, from)).toMatchObject({ code: 0 })
      const clocks = /the service's clock shows 2026-11-20 .*, and this machine's 2026-11-10/
      expect((await account.run(audit, from)).problems).toEqual([expect.stringMatching(clocks)])
      expect(await account.run(audit)).toMatchObject({ code: 0 })
      addRecentRows(8)
      const printed = expect.arrayContaining([expect.stringContaining('nothing after 2026-11-10')])
      expect(await account.run(audit, ['--streams', 'watch_records'])).toMatchObject({ code: 3, printed })
    })
    await withClockAhead(240, async () => {
      for (const verb of [audit, backfill])
        expect((await account.run(verb, ['--from', '2026-11-22'])).problems.join()).toContain('lies in the future')
    })
  })

  test("a cached Date header of yesterday holds back neither rows nor today's usage", async () => {
    account.emulator.conditions.frontPageAgeMs = 25 * HOUR_MS
    await syncGreen()
    await account.expectTruth()
    expect(await account.run(backfill, ['--from', '2026-11-20', '--streams', 'gifts'])).toMatchObject({ code: 0 })
  })
})

describe('a run warns once', () => {
  async function warnings(): Promise<readonly string[]> {
    const { log, lines } = createRecordingLog()
    const clock = { now: () => account.clock.nowMs, sleep: async () => {} }
    const environment = environmentOf(account.emulator, account.database)
    expect(await runVerb(sync, ['--streams', 'managers'], { environment, clock, log })).toMatchObject({ code: 0 })
    return lines.filter(({ event }) => event.startsWith('clock.')).map(({ event }) => event)
  }

  test("if this machine's clock is over a minute off, and not below that", async () => {
    account.emulator.conditions.clockAheadMs = 61_000
    expect(await warnings()).toEqual(['clock.differs'])
    account.emulator.conditions.clockAheadMs = -59_000
    expect(await warnings()).toEqual([])
    account.emulator.conditions.clockAheadMs = -account.clock.nowMs
    expect(await warnings()).toEqual(['clock.unknown'])
    account.emulator.conditions.tellsTime = false
    expect(await warnings()).toEqual(['clock.unknown'])
  })
})

test('a clock a day or a year behind forgets nothing, even if the service does not send its time', async () => {
  const { clock, emulator, database } = account
  emulator.conditions.tellsTime = false
  for (let night = 0; night < 3; night++) {
    clock.passHours(24)
    await syncGreen()
  }
  for (const hours of [-24, -9600]) await withClockAhead(hours, syncGreen)
  const forgotten = database.db.selectFrom('livehouse_ops.slices').where('status', '=', 'forgotten').select('slice_id')
  expect(await forgotten.execute()).toEqual([])
  await syncGreen()
  await account.expectTruth(['gifts', 'watch_records', 'signups'])
})

test('what was read with a clock ten days ahead, and no service time, is read again once it is right', async () => {
  const { clock, emulator } = account
  emulator.conditions.tellsTime = false
  await syncGreen()
  clock.passHours(10 * 24)
  emulator.conditions.clockAheadMs = -10 * DAY_MS
  await syncGreen()
  clock.nowMs -= 9 * DAY_MS
  emulator.conditions.clockAheadMs = 0
  addRecentRows(77)
  await syncGreen()
  await account.expectTruth(['gifts', 'watch_records', 'signups'])
  clock.passHours(2 * 24)
  addRecentRows(78)
  await syncGreen()
  await account.expectTruth(['gifts', 'watch_records', 'signups'])
})

test('an unreachable service fails a run, and a dry run too', async () => {
  const unreachable = { LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1' }
  const message = expect.stringContaining('the address in LIVEHOUSE_BASE_URL, http://127.0.0.1:1 (ECONNREFUSED)')
  const result = await account.sync([], unreachable)
  expect(result).toMatchObject({ code: 1, status: 'failed', errors: [{ code: 'api.unreachable', message }] })
  const { error } = await account.run(sync, ['--dry-run'], unreachable)
  expect(exitCodeOfError(error)).toBe(1)
})

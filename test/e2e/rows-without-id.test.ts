import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { backfill } from '../../src/cli/backfill.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import { recordHeaders } from '../../src/ledger/questionnaires.ts'
import { atFirstList, changedRows } from '../helpers/fault-effects.ts'
import { first, firstChannel, firstRows, times } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/add-odd-rows.ts'
import { withTime } from '../helpers/worlds/troubles.ts'

const streams = ['--streams', 'gifts,questionnaires,signups']

const account = ofTest(() => startAccount())

async function readAfter(days: number, flags: readonly string[] = streams): Promise<void> {
  account.clock.passHours(days * 24)
  expect(await account.sync(flags)).toMatchObject({ code: 0 })
}

async function readRange(from: string, to: string) {
  const { code, streams } = await account.runJson(backfill, ['--from', from, '--to', to, '--streams', 'gifts,signups'])
  expect(code).toBe(0)
  return streams
}

function changeBoth(change: (item: unknown) => unknown): void {
  for (const endpoint of ['giftRunning', 'signupRecord'] as const)
    account.emulator.faults.push({ effect: changedRows(change), endpoint })
}

async function readCounts() {
  const { rows } = await sql<{ gifts: number; amount: string; signups: number; waiting: number }>`
    select (select count(*)::int from livehouse.gifts where removed_at is null) as gifts,
      (select sum(amount)::text from livehouse.gifts where removed_at is null) as amount,
      (select count(*)::int from livehouse.signups where removed_at is null) as signups,
      (select count(*)::int from livehouse_ops.quarantine where resolved_at is null) as waiting
  `.execute(account.database.db)
  return first(rows)
}

test.each([
  ['noticed', 'array', 0, undefined],
  ['noticed by another run first, whose clock shows when they were first seen', 'array', 0, undefined],
  ['requested, once a run and questionnaire', 'missing', 1, undefined],
  ['requested by a signup, where no range holds all times', 'missing', 1, 4000],
] as const)('headers edited with no new signup are %s, and applied', async (how, emptyLists, times, days) => {
  const { emulator, clock, database } = account
  Object.assign(emulator.switches, { emptyLists, longestWindowDays: days })
  for (const later of [0, 1, 1]) await readAfter(later)
  const { id, questionnaires } = firstChannel(emulator)
  const form = first(questionnaires.rows)
  const rows = form.signups.rows.map((row): Signup => ({ ...row, answers: row.answers.slice(0, -1) }))
  const questions = ['改名', ...form.questions.slice(1, -1)]
  questionnaires.replace(form, { ...form, questions, signups: createRowList(rows) })
  clock.passHours(1)
  emulator.calls.length = 0
  const partition = `channel=${id}/question=${form.questionId}`
  const title = JSON.stringify(['用户ID', '昵称', '手机号', ...questions, '报名时间'])
  const seen = { stream: 'signups', partition, title, runId: '7', seenAt: new Date(clock.now() - 49 * 3_600_000) }
  const effect = atFirstList(() => void recordHeaders(database.db, seen))
  if (how.includes('other')) emulator.faults.push({ effect, endpoint: 'signupRecord' })
  const { signups } = (await account.sync(streams)).streams
  const requestedIds = emulator.calls.flatMap(({ endpoint, params }) => {
    return endpoint === 'signupRecord' && params.start_time === undefined ? [String(params.question_id)] : []
  })
  // Once more because the whole questionnaire is read again.
  expect(requestedIds.filter((id) => id === form.questionId)).toHaveLength(2 * times)
  const others = requestedIds.filter((id) => id !== form.questionId)
  expect(others).toHaveLength(new Set(others).size)
  expect(signups).toMatchObject({ updated: rows.length, inserted: 0, removed: 0 })
  await account.expectTruth(['questionnaires', 'signups'])
})

test('equal gifts beside a range, past which nothing is shown, do not end it: none is missed or marked', async () => {
  const { emulator, run, clock } = account
  const { gifts: given } = firstChannel(emulator)
  const gift = first(given.rows)
  for (const { gifts } of emulator.world.channels.values()) for (const row of gifts.rows.slice()) gifts.remove(row)
  emulator.faults.push({ effect: clampedTo(3), endpoint: 'giftRunning' })
  Object.assign(emulator.switches, { beyondLastPage: 'error', rowOrder: 'time-desc' })
  const midnight = parseWallTime('2026-11-20') ?? 0
  const give = (count: number, givenAt: number) =>
    given.add(...Array.from({ length: count }, () => ({ ...gift, type: 'cash' as const, givenAt })))
  const read = async () => {
    clock.passHours(2)
    const { code } = await run(backfill, ['--from', '2026-11-18', '--to', '2026-11-20', '--streams', 'gifts'])
    return [code, (await readCounts()).gifts]
  }
  give(2, midnight - 9000)
  expect(await read()).toEqual([0, 2])
  give(1, midnight - 20_000)
  give(10, midnight + 20)
  for (let time = 0; time < 3; time++) expect(await read()).toEqual([3, 3])
  Object.assign(emulator.switches, { beyondLastPage: 'empty' })
  expect(await read()).toEqual([0, 3])
})

describe('the time of a gift or a signup', () => {
  test('may come to the minute, then to the second, and back: no row is there twice', async () => {
    const toTheMinute = (item: unknown) => withTime(item, (time) => time.slice(0, 16))
    changeBoth(toTheMinute)
    await readAfter(0)
    const before = await readCounts()

    account.emulator.faults.length = 0
    await readAfter(1)
    expect(await readCounts()).toEqual(before)
    // Also beyond the lookback, once that is read again.
    await readRange('2026-10-01', '2026-11-22')
    await account.expectTruth(['gifts', 'questionnaires', 'signups'])

    changeBoth(toTheMinute)
    await readAfter(1)
    expect(await readCounts()).toEqual(before)
  })

  test('or another part of its identity, if unreadable, keeps a row in quarantine until it is readable', async () => {
    const { gifts, questionnaires } = firstChannel(account.emulator)
    const gift = first(gifts.rows.slice(-1))
    const signup = first(first(questionnaires.rows).signups.rows.slice(-1))
    const wrong: Readonly<Record<string, object>> = {
      'without time': { uptime: null },
      'without amount': { money: 'much' },
      'without id': { gift_id: 'rose' },
      'outside of the range': { uptime: '1970-01-01 08:00:00' },
    }
    // Rows outside of the range can be read, so even many of them do not mean a changed interface.
    const phones = [...Object.keys(wrong), ...times(100, (n) => (n % 5 ? String(n) : 'outside of the range'))]
    gifts.add(...phones.map((phone) => ({ ...gift, phone })))
    const truth = account.emulator.truth()
    const broken = changedRows((item) => ({ ...Object(item), ...wrong[Object(item).phone] }))
    account.emulator.faults.push({ effect: broken, endpoint: 'giftRunning' })
    const isMeant = (item: unknown) =>
      Array.isArray(item) ? item[0] === signup.userId : Object(item).phone === gift.phone
    changeBoth((item) => (isMeant(item) ? withTime(item, () => 'soon') : item))
    await readAfter(0)
    const counts = await readCounts()
    expect(counts.waiting).toBeGreaterThanOrEqual(26)
    expect(counts.gifts + counts.signups).toBe(truth.gifts.length + truth.signups.length - counts.waiting)

    // The source has not changed: nothing is new, and nothing resolved.
    await readAfter(1)
    expect(await readCounts()).toEqual(counts)

    account.emulator.faults.length = 0
    await readRange('2015-01-01', '2026-11-22')
    await account.expectTruth(['gifts', 'questionnaires', 'signups'])
    expect(await readCounts()).toMatchObject({ waiting: 0 })
  })
})

test('an old row that becomes readable the next day lands, and nothing stays in quarantine', async () => {
  const has = (item: unknown, text: string) => JSON.stringify(item).includes(text)
  changeBoth((item) => (has(item, '2026-10') ? withTime(item, () => 'soon') : item))
  const oldest = first(firstChannel(account.emulator).records.rows.toSorted((a, b) => a.enteredAt - b.enteredAt))
  const withoutId = changedRows((item) => (has(item, oldest.recordId) ? { ...Object(item), record_id: {} } : item))
  account.emulator.faults.push({ effect: withoutId, endpoint: 'userRecordList' })
  const all = ['--streams', 'gifts,questionnaires,signups,watch_records']
  await readAfter(0, all)
  expect((await readCounts()).waiting).toBeGreaterThan(3)
  account.emulator.faults.splice(0)
  await readAfter(1, all)
  await account.expectTruth(['gifts', 'signups', 'watch_records'])
  expect((await readCounts()).waiting).toBe(0)
})

test('an unreadable gift stays in quarantine even if it comes with a wider range than planned', async () => {
  const { channel, gift } = firstRows(account.emulator)
  const withdrawn = { ...gift, giftId: 777_001, givenAt: account.hoursAgo(10) }
  channel.gifts.add(withdrawn, { ...gift, giftId: 777_002, givenAt: account.hoursAgo(39) })
  const broken = changedRows((item) => ({ ...Object(item), ...(Object(item).gift_id === 777_002 && { money: {} }) }))
  account.emulator.faults.push({ effect: broken, endpoint: 'giftRunning' })
  for (let reading = 0; reading < 5; reading++) {
    if (reading === 3) channel.gifts.remove(withdrawn)
    await readAfter(1 / 12, ['--streams', 'gifts'])
  }
  await readRange('2026-11-19', '2026-11-22')
  expect(await readCounts()).toMatchObject({ waiting: 1 })
})

test('unreadable rows that differ in every answer do not keep a range from settling', async () => {
  const { emulator, clock } = account
  const { channel, gift, record } = firstRows(emulator)
  const withdrawn = { ...gift, type: 'cash' as const, giftId: 777_001, givenAt: account.hoursAgo(2) }
  channel.gifts.add(withdrawn, { ...withdrawn, giftId: 777_002, givenAt: account.hoursAgo(3) })
  channel.records.add({ ...record, recordId: '900000001', enteredAt: account.hoursAgo(5), leftAt: account.hoursAgo(4) })
  let answers = 0
  const breakRow = (endpoint: string, id: string, field: string) => {
    const change = (item: unknown) => ({ ...Object(item), [field]: {}, at: ++answers })
    const effect = changedRows((item) => (JSON.stringify(item).includes(id) ? change(item) : item))
    emulator.faults.push({ effect, endpoint })
  }
  const syncAfter = async (hours: number) => {
    clock.passHours(hours)
    const before = emulator.calls.length
    const { code, streams } = await account.sync('gifts,watch_records')
    expect(code).toBe(0)
    const from = emulator.calls.slice(before).map(({ params }) => String(params.start_time ?? params.startTime))
    return { removed: streams.gifts.removed, oldest: from.sort()[0]?.slice(0, 10) }
  }
  breakRow('giftRunning', '777002', 'money')
  await syncAfter(0)
  await syncAfter(2)
  channel.gifts.remove(withdrawn)
  breakRow('userRecordList', '900000001', 'record_id')
  await syncAfter(2)
  expect(await syncAfter(2)).toMatchObject({ removed: 1 })
  await syncAfter(8 * 24)
  await syncAfter(24)
  expect(await syncAfter(24)).toMatchObject({ oldest: '2026-11-26' })
})

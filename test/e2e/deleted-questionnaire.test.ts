import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { status } from '../../src/cli/status.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import {
  status as answers,
  errcode,
  fieldValue,
  html,
  missingRow,
  refusal,
  whereAsked,
  withheldRows,
} from '../helpers/fault-effects.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'

const account = ofTest(() => startAccount({ viewers: 30 }))

async function readStatus() {
  const { database, clock } = account
  const now = { now: () => clock.nowMs, sleep: systemClock.sleep }
  await using page = await startTestStatusServer(database, { clock: now })
  const metrics = await page.text('/metrics')
  const { code, streams, stale } = await account.runJson(status, ['--max-age', '26h'])
  const today = sql`(${new Date(clock.nowMs)}::timestamptz at time zone 'Asia/Shanghai')::date`
  const { rows } = await sql<{ days: number }>`
    select ${today} - complete_through as days from livehouse_bi.freshness
    where stream = 'signups' order by channel_id`.execute(database.db)
  const { rows: incomplete } = await sql`
    select channel_id, day::text from livehouse_bi.daily_channel
    where not is_signup_complete and day < ${today}`.execute(database.db)
  return {
    incomplete,
    title: /<h1[^>]*>([^<]*)/.exec(await page.text('/'))?.[1],
    isComplete: /^livehouse_is_complete 1$/m.test(metrics),
    behind: Number(/livehouse_seconds_behind\{stream="signups"\} (\S+)/.exec(metrics)?.[1]),
    daysBehind: rows.map(({ days }) => days),
    partitions: streams.signups.partitions.verified,
    stale,
    code,
  }
}

test('a questionnaire deleted at the source is not late, and is read again when it is back', async () => {
  const { emulator, clock } = account
  const fresh = { title: 'Last night is complete', isComplete: true, stale: [] }
  expect((await account.sync()).code).toBe(0)
  const before = await readStatus()
  expect(before).toMatchObject(fresh)

  const { channel, form: deleted } = firstRows(emulator)
  channel.questionnaires.remove(deleted)
  clock.passHours(3 * 24)
  expect((await account.sync()).code).toBe(0)
  const without = await readStatus()
  const partitions = before.partitions - 1
  expect(without).toMatchObject({ ...fresh, daysBehind: before.daysBehind, incomplete: [], partitions })
  expect(without.behind).toBeLessThan(3600)

  channel.questionnaires.add(deleted)
  // The list shows that it is back, even if another of its items cannot be read.
  const effect = fieldValue('question_id', null, 0)
  emulator.faults.push({ effect, endpoint: 'getQuestionList', channelId: channel.id, times: 1 })
  clock.passHours(24)
  expect((await account.sync()).code).toBe(0)
  expect((await readStatus()).partitions).toBe(before.partitions)

  for (const { questionnaires } of emulator.world.channels.values())
    for (const form of questionnaires.rows.slice()) questionnaires.remove(form)
  for (let night = 0; night < 2; night++) {
    clock.passHours(2 * 24)
    await account.sync()
  }
  expect(await readStatus()).toMatchObject({ ...fresh, code: 0 })
})

test.each([
  ['whose id is unreadable in a list', fieldValue('question_id', null, 0), 0],
  ['that a list announces, but lacks', missingRow(0), 3],
])('a questionnaire %s does not count as deleted', async (_, effect, exitCode) => {
  const readRequestedIds = async (code = exitCode) => {
    account.emulator.calls.length = 0
    expect((await account.sync()).code).toBe(code)
    return new Set(account.emulator.calls.flatMap(({ params }) => params.question_id ?? []))
  }
  const requestedIds = await readRequestedIds(0)
  account.emulator.faults.push({ effect, endpoint: 'getQuestionList' })
  for (const days of [1, 8]) {
    account.clock.passHours(days * 24)
    expect(await readRequestedIds()).toEqual(requestedIds)
  }
})

/** Closes questionnaires: the service no longer lists them, but still serves them. */
function leaveList(isClosed: (questionId: string) => boolean): void {
  const hidden = withheldRows((item) => isClosed(String(Object(item).question_id)))
  const answer = (before: Answer): Answer => {
    const after = hidden.answer?.(before) ?? before
    const { body } = after
    return body.kind === 'list' ? { ...after, body: { ...body, total: body.items().length } } : after
  }
  account.emulator.faults.push({ effect: { name: 'closed', answer }, endpoint: 'getQuestionList' })
}

test('an emptied questionnaire that leaves the list keeps its signups, even if the list then fails', async () => {
  const { channel, form: emptied, signup } = firstRows(account.emulator)
  emptied.signups.add({ ...signup, userId: 'late', signedUpAt: account.hoursAgo(1) })
  expect((await account.sync()).code).toBe(0)
  leaveList((questionId) => questionId === emptied.questionId)
  channel.questionnaires.replace(emptied, { ...emptied, signups: createRowList<Signup>([]) })
  for (const hours of [2, 2, 2, 24, 24]) {
    account.clock.passHours(hours)
    if (hours === 24) account.emulator.faults.unshift({ effect: refusal(400001), endpoint: 'getQuestionList' })
    expect((await account.sync('questionnaires,signups')).code).toBe(hours === 24 ? 3 : 0)
  }
  expect(await readStreamTable(account.database.db, 'signups', { isRemoved: true })).toEqual([])
})

test('many questionnaires that have left the list are requested concurrently', async () => {
  const { channel, form } = firstRows(account.emulator)
  const signups = createRowList<Signup>([])
  for (let n = 0; n < 12; n++) channel.questionnaires.add({ ...form, questionId: `closed-${n}`, signups })
  expect((await account.sync('questionnaires,signups')).code).toBe(0)
  leaveList((questionId) => questionId.startsWith('closed-'))
  // The first call for each is retried five seconds later.
  const effect = answers(503, { 'retry-after': '5' })
  account.emulator.faults.push({ effect, endpoint: 'signupRecord', channelId: channel.id, times: 12 })
  const startMs = account.clock.nowMs
  expect((await account.sync('questionnaires,signups')).code).toBe(0)
  expect(account.clock.nowMs - startMs).toBeLessThan(30_000)
})

test('the last signups of a closed questionnaire land, and it is not requested for more than a week', async () => {
  const { emulator, clock } = account
  const { form: closed, signup } = firstRows(emulator)
  // A service may refuse a page size of one.
  const effect = whereAsked(({ pageSize }) => pageSize === 1, refusal(400001))
  emulator.faults.push({ effect, endpoint: 'signupRecord' })
  expect((await account.sync()).code).toBe(0)
  leaveList((questionId) => questionId === closed.questionId)
  for (let day = 1; day < 10; day++) {
    if (day < 7) closed.signups.add({ ...signup, userId: `late-${day}`, signedUpAt: account.hoursAgo(0) + 3600 })
    if (day === 5) await sql`delete from livehouse.signups where user_id = 'late-1'`.execute(account.database.db)
    expect(await account.run(audit, [])).toMatchObject({ code: day === 5 ? 3 : 0 })
    clock.passHours(24)
    const before = emulator.calls.length
    expect((await account.sync()).code).toBe(0)
    const requests = emulator.calls.slice(before).filter(({ params }) => params.question_id === closed.questionId)
    expect(requests.length > 0).toBe(day < 8)
    await account.expectTruth(['signups'])
  }
})

test('a refusal other than an unknown questionnaire is not green; the last signups land after it', async () => {
  const { form, signup } = firstRows(account.emulator)
  expect((await account.sync()).code).toBe(0)
  account.clock.passHours(24)
  form.signups.add({ ...signup, userId: 'last', signedUpAt: account.hoursAgo(1) })
  leaveList((questionId) => questionId === form.questionId)
  const syncCodeFor = async (response: FaultEffect) => {
    const effect = whereAsked(({ filters }) => filters?.questionId === form.questionId, response)
    account.emulator.faults.splice(1, 1, { effect, endpoint: 'signupRecord' })
    return (await account.sync('questionnaires,signups')).code
  }
  for (const each of [errcode(5000, 'system busy'), html(404)]) expect(await syncCodeFor(each)).toBe(3)
  const unknown = [answers(404), refusal(404002), refusal(403000), errcode(40401), errcode(7, 'no such question')]
  for (const each of unknown) expect([each.name, await syncCodeFor(each)]).toEqual([each.name, 0])
  account.emulator.faults.pop()
  expect((await account.sync('questionnaires,signups')).code).toBe(0)
  await account.expectTruth(['signups'])
})

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Cause } from '../../../src/core/cause.ts'
import { type AlertChannel, deliverNotices, type Post } from '../../../src/app/alerts/deliver-notices.ts'
import { recordCauses } from '../../../src/ledger/alerts.ts'
import { createFakeClock } from '../../helpers/fake-clock.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'
import { createRecordingLog } from '../../helpers/recording-log.ts'

const gone: Cause = { kind: 'channelGone', channel: '9' }
const KEY = 'https://robot.example.com/key-abc'
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await database.db.deleteFrom('livehouse_ops.alerts').execute()
  await recordCauses(database.db, { kinds: ['channelGone'] }, async () => [gone], new Date(0))
})

function channel(answers: readonly Awaited<ReturnType<Post>>[]) {
  const { log, lines } = createRecordingLog()
  let sent = 0
  const post: Post = async () =>
    answers[Math.min(sent++, answers.length - 1)] ?? { status: undefined, failure: 'none', isLate: false }
  const made: AlertChannel = {
    url: KEY,
    format: 'dingtalk',
    language: 'en',
    secret: null,
    keyword: null,
    post,
    clock: createFakeClock({ isAutomatic: true }),
    log,
  }
  return { channel: made, sent: () => sent, lines }
}

const ok = { status: 200, text: '{"errcode":0}' }
const signal = new AbortController().signal

test('what fails at first is sent in the end, once', async () => {
  const robot = channel([{ status: undefined, failure: 'no connection', isLate: false }, { status: 500, text: '' }, ok])
  expect(await deliverNotices(database.db, robot.channel, signal)).toBe(true)
  expect(robot.sent()).toBe(3)
  expect(await deliverNotices(database.db, robot.channel, signal)).toBe(true)
  expect(robot.sent()).toBe(3)
})

test('after three attempts it is left for later, and said without the address', async () => {
  const robot = channel([{ status: 200, text: JSON.stringify({ errcode: 310000, errmsg: `no ${KEY}` }) }])
  expect(await deliverNotices(database.db, robot.channel, signal)).toBe(false)
  expect(robot.sent()).toBe(3)
  expect(JSON.stringify(robot.lines)).toContain('code 310000 (no ***)')
  expect(JSON.stringify(robot.lines)).not.toContain('key-abc')
  const later = channel([ok])
  expect(await deliverNotices(database.db, later.channel, signal)).toBe(true)
  expect(later.sent()).toBe(1)
})

test('one that answers late may have taken it: it is asked once, and again only after a while', async () => {
  const robot = channel([{ status: undefined, failure: 'no answer within 5 s', isLate: true }])
  expect(await deliverNotices(database.db, robot.channel, signal)).toBe(false)
  expect(await deliverNotices(database.db, robot.channel, signal)).toBe(true)
  expect(robot.sent()).toBe(1)
})

test.each([
  ['json', 200, 1, true],
  ['slack', 200, 1, true],
  // The body of a robot decides, and did not come.
  ['dingtalk', 200, 1, false],
  ['dingtalk', 500, 3, false],
  ['json', 500, 3, false],
] as const)('%s: of a status %i whose body never ends it is asked %i times', async (format, status, times, isTaken) => {
  const receiver = channel([{ status, text: '', isLate: true }])
  expect(await deliverNotices(database.db, { ...receiver.channel, format }, signal)).toBe(isTaken)
  expect(receiver.sent()).toBe(times)
})

test('what was taken just before a signal is not sent again', async () => {
  const robot = channel([ok])
  const controller = new AbortController()
  const { post } = robot.channel
  const isTakenThenStopped: Post = async (request, own) => {
    const answer = await post(request, own)
    controller.abort()
    return answer
  }
  const stopped = { ...robot.channel, post: isTakenThenStopped }
  expect(await deliverNotices(database.db, stopped, controller.signal)).toBe(true)
  expect(await deliverNotices(database.db, robot.channel, signal)).toBe(true)
  expect(robot.sent()).toBe(1)
})

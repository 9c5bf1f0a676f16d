import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type AlertChannel, deliverNotices, type Post } from '../../../src/app/alerts/deliver-notices.ts'
import { recordCauses } from '../../../src/ledger/alerts.ts'
import { createFakeClock } from '../../helpers/fake-clock.ts'
import { ofFile } from '../../helpers/of-file.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { createRecordingLog } from '../../helpers/recording-log.ts'

const KEY = 'https://robot.example.com/key-abc'
const database = ofFile(createTestDatabase)

beforeAll(async () => {
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'gone', 1)`.execute(database.db)
})
beforeEach(async () => {
  await database.db.deleteFrom('livehouse_ops.alerts').execute()
  await recordCauses(database.db, new Date(0))
})

function channel(answers: readonly Awaited<ReturnType<Post>>[]) {
  const { log, lines } = createRecordingLog()
  let sent = 0
  const post: Post = async () => answers[Math.min(sent++, answers.length - 1)] ?? { status: undefined, failure: 'none' }
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

test('what is not taken is said without the address, and due again later; what is taken is sent once', async () => {
  const refusal = { status: 200, text: JSON.stringify({ errcode: 310000, errmsg: `no ${KEY}` }) }
  const robot = channel([refusal, { status: undefined, failure: 'no connection' }, ok])
  const { clock } = robot.channel
  for (const isTaken of [false, false, true]) {
    expect(await deliverNotices(database.db, robot.channel, signal)).toBe(isTaken)
    // Not at once: it may have been taken.
    await deliverNotices(database.db, robot.channel, signal)
    await clock.sleep(5 * 60_000)
  }
  expect(robot.sent()).toBe(3)
  expect(JSON.stringify(robot.lines)).toContain('code 310000')
  expect(JSON.stringify(robot.lines)).not.toContain('key-abc')
  await deliverNotices(database.db, robot.channel, signal)
  expect(robot.sent()).toBe(3)
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

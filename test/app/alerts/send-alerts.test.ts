import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readCauses } from '../../../src/app/alerts/read-causes.ts'
import { type AlertReceiver, deliverNotices } from '../../../src/app/alerts/send-alerts.ts'
import { run as runJob } from '../../../src/cli/run.ts'
import { serve } from '../../../src/cli/serve.ts'
import { sync } from '../../../src/cli/sync.ts'
import type { Cause } from '../../../src/core/cause.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { LivehouseError } from '../../../src/core/errors.ts'
import { startEmulator } from '../../../src/emulator/server.ts'
import { recordCauses } from '../../../src/ledger/alerts.ts'
import { recordUnknownFields } from '../../../src/ledger/unknown-fields.ts'
import { createFakeClock } from '../../helpers/fake-clock.ts'
import { ofFile } from '../../helpers/of-file.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { createRecordingLog } from '../../helpers/recording-log.ts'
import { environmentOf, runVerb } from '../../helpers/run-verb.ts'
import { startScriptedService } from '../../helpers/scripted-service.ts'

const database = ofFile(createTestDatabase)
const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 5, days: 2 }))
const robot = ofFile(() => startScriptedService(() => ({ text: 'ok' })))

const settingsOf = (warehouse: { readonly url: string }, channels: readonly string[] = emulator.channelIds) => ({
  ...environmentOf(emulator, warehouse),
  LIVEHOUSE_CHANNELS: channels.join(','),
  LIVEHOUSE_ALERT_WEBHOOK: `${robot.url}/hook?key=k`,
  LIVEHOUSE_ALERT_SECRET: 'S',
})

/** Starts now. @returns a function that gives the events that the robot has received since */
function listen() {
  const start = robot.requests.length
  return () => robot.requests.slice(start).flatMap(({ body }) => Object(body).events ?? [])
}

/** Syncs so many minutes from now. @returns the exit code, and the events that the robot has received meanwhile */
async function run(
  channels: readonly string[],
  { settings = {}, minutesLater = 0, argv = ['--streams', 'visitors'] } = {},
) {
  const readEvents = listen()
  const environment = { ...settingsOf(database, channels), ...settings }
  const clock = { ...systemClock, now: () => systemClock.now() + minutesLater * 60_000 }
  const { code } = await runVerb(sync, argv, { environment, clock })
  return { code, events: readEvents() }
}

test('a run that is not green raises one alert, late if the receiver is down, and a green run clears it', async () => {
  const channelIds = [...emulator.channelIds]
  expect(await run(channelIds)).toEqual({ code: 0, events: [] })
  const unreachable = { LIVEHOUSE_ALERT_WEBHOOK: 'http://127.0.0.1:9/hook' }
  const problems = [{ stream: 'visitors', code: 'api.channelUnknown', count: 1 }]
  expect((await run([...channelIds, '424242'], { settings: unreachable })).code).toBe(3)
  expect(await run([...channelIds, '424242'], { minutesLater: 6 })).toMatchObject({
    code: 3,
    events: [{ event: 'raised', cause: 'run=sync', facts: expect.objectContaining({ status: 'partial', problems }) }],
  })
  const headers = {
    'content-type': expect.stringMatching(/^application\/json/),
    'x-livehouse-signature': expect.stringMatching(/^sha256=/),
  }
  expect(robot.requests.at(-1)).toMatchObject({ method: 'POST', path: '/hook', query: { key: 'k' }, headers })
  expect(await run([...channelIds, '424242'], { minutesLater: 12 })).toEqual({ code: 3, events: [] })
  const argv = ['--streams', 'visitors', '--channels', channelIds.join(',')]
  expect(await run(channelIds, { minutesLater: 15, argv })).toEqual({ code: 0, events: [] })
  const cleared = { code: 0, events: [{ event: 'cleared', cause: 'run=sync' }] }
  expect(await run(channelIds, { minutesLater: 18 })).toMatchObject(cleared)
})

const failedSettings = { streams: ['gifts', 'visitors'], channels: ['1', '2'], from: '2026-01-01', to: '2026-03-01' }
test.each<[string, object, boolean]>([
  ['sync', { streams: ['gifts'] }, false],
  ['sync', { streams: ['gifts', 'managers', 'visitors'], channels: ['1'] }, true],
  ['sync', { channels: ['1'], namesChannels: true }, false],
  ['sync', { channels: ['1', '2', '3'], namesChannels: true }, true],
  ['backfill', { from: '2025-12-31', to: 'now' }, true],
  ['backfill', { from: '2026-01-02', to: 'now' }, false],
  ['audit', { from: undefined, to: undefined }, true],
  ['run nightly', { from: '2026-01-02' }, true],
])('after %s failed, a green run of it with %j clears the failure: %j', async (command, later, isCleared) => {
  await using database = await createTestDatabase()
  for (const [status, settings] of Object.entries({ failed: failedSettings, ok: { ...failedSettings, ...later } }))
    await sql`insert into livehouse_ops.runs (command, status, settings, outcome, started_at, finished_at) values
      (${command}, ${status}, ${JSON.stringify(settings)}, '{"errors":[]}', now(), now())`.execute(database.db)
  expect(await readCauses(database.db, new Date())).toMatchObject(isCleared ? [] : [{ kind: 'run', name: command }])
})

test('an unfinished job and many unknown fields are reported without telephone numbers and addresses', async () => {
  await using database = await createTestDatabase()
  const error = `it was begun 5 times; 13800001234 or a.b@example.com ${'y'.repeat(300)}`
  await sql`insert into livehouse_ops.job_runs (job, is_repeat, status, outcome, attempts, worker, error, started_at, finished_at)
    values ('nightly', false, 'ended', 'failed', 1, 'host:1', ${error}, now(), now())`.execute(database.db)
  const fields = ['13800000001', '13800000002'].map((number) => `${number}${'f'.repeat(58)}🎁`)
  await recordUnknownFields(database.db, 'gifts', fields, '1', new Date())
  await sql`insert into livehouse_ops.unknown_fields (stream, field, first_seen_at, run_id)
    select 'visitors', 'f' || to_hex(n), now(), 1 from generate_series(1, 30000) n`.execute(database.db)
  await recordCauses(database.db, new Date(), readCauses)
  const { rows } = await sql`select facts from livehouse_ops.alerts order by alert_id limit 2`.execute(database.db)
  const reason = expect.stringMatching(/^it was begun 5 times; … or … y+$/)
  const field = `…${'f'.repeat(58)}\ufffd`
  expect(rows).toMatchObject([{ facts: { runId: null, problems: [], reason } }, { facts: { field } }])
  expect(JSON.stringify(rows[0]).length).toBeLessThan(320)
})

test('serve sends within a minute an alert that no run has sent', async () => {
  await using database = await createTestDatabase()
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'gone', 1)`.execute(database.db)
  const environment = { ...settingsOf(database), LIVEHOUSE_HTTP: 'off' }
  const stop = new AbortController()
  const readEvents = listen()
  const serving = runVerb(serve, [], { environment, signal: stop.signal, clock: systemClock })
  await vi.waitFor(() => expect(readEvents()).not.toEqual([]), 60_000)
  stop.abort(new LivehouseError('run.interrupted', 'SIGTERM', { signal: 'SIGTERM' }))
  await serving
  expect(readEvents()).toMatchObject([{ cause: 'channel=9' }])
})

test('alerts after a run do not read the view of open readings, which is slow in a large ledger', async () => {
  await using database = await createTestDatabase()
  await sql`alter view livehouse_ops.open_readings rename to away`.execute(database.db)
  const environment = settingsOf(database, ['424242'])
  const readEvents = listen()
  expect((await runVerb(sync, ['--streams', 'visitors'], { environment })).code).toBe(3)
  expect(readEvents()).toMatchObject([{ cause: 'run=sync' }])
})

test('the heartbeat URL is requested only after a green job, and its failure does not affect the job', async () => {
  await using database = await createTestDatabase()
  await using heart = await startScriptedService(() => ({ status: 500 }))
  const { log, lines } = createRecordingLog()
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_HEARTBEAT_URL: `${heart.url}/beat` }
  expect((await runVerb(runJob, ['nightly'], { environment, log })).code).toBe(0)
  expect(heart.requests).toMatchObject([{ method: 'GET', path: '/beat' }])
  const failed = lines.filter(({ event }) => event === 'heartbeat.failed')
  expect(failed).toMatchObject([{ fields: { reason: 'status 500' } }])

  const broken = { ...environment, LIVEHOUSE_CHANNELS: [...emulator.channelIds, '424242'].join(',') }
  expect((await runVerb(runJob, ['nightly'], { environment: broken, log })).code).toBe(3)
  expect(heart.requests).toHaveLength(1)
})

describe('due notices', () => {
  const warehouse = ofFile(createTestDatabase)
  const KEY = 'https://robot.example.com/key-abc'

  beforeAll(async () => {
    await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'gone', 1)`.execute(warehouse.db)
  })
  beforeEach(async () => {
    await warehouse.db.deleteFrom('livehouse_ops.alerts').execute()
    await recordCauses(warehouse.db, new Date(0), readCauses)
  })

  function createRobot(answers: readonly Awaited<ReturnType<AlertReceiver['post']>>[]) {
    const { log, lines } = createRecordingLog()
    let sent = 0
    const post: AlertReceiver['post'] = async () =>
      answers[Math.min(sent++, answers.length - 1)] ?? { status: undefined, failure: 'none' }
    const receiver: AlertReceiver = {
      url: KEY,
      format: 'dingtalk',
      language: 'en',
      secret: null,
      keyword: null,
      post,
      clock: createFakeClock({ isAutomatic: true }),
      log,
    }
    return { receiver, sent: () => sent, lines }
  }

  const ok = { status: 200, text: '{"errcode":0}' }
  const signal = new AbortController().signal

  test('a refused notice is logged without the address and due again later; an accepted one is sent once', async () => {
    const refusal = { status: 200, text: JSON.stringify({ errcode: 310000, errmsg: `no ${KEY}` }) }
    const robot = createRobot([refusal, { status: undefined, failure: 'no connection' }, ok])
    const { clock } = robot.receiver
    for (const unsent of [1, 2, 2]) {
      await deliverNotices(warehouse.db, robot.receiver, signal)
      // Not at once, because the receiver may have accepted it.
      await deliverNotices(warehouse.db, robot.receiver, signal)
      expect(robot.lines).toHaveLength(unsent)
      await clock.sleep(5 * 60_000)
    }
    expect(robot.sent()).toBe(3)
    expect(JSON.stringify(robot.lines)).toContain('code 310000')
    expect(JSON.stringify(robot.lines)).not.toContain('key-abc')
    await deliverNotices(warehouse.db, robot.receiver, signal)
    expect(robot.sent()).toBe(3)
  })

  test('a notice that was accepted just before a signal is not sent again', async () => {
    const robot = createRobot([ok])
    const controller = new AbortController()
    const { post } = robot.receiver
    const postThenAbort: AlertReceiver['post'] = async (request, own) => {
      const answer = await post(request, own)
      controller.abort()
      return answer
    }
    await deliverNotices(warehouse.db, { ...robot.receiver, post: postThenAbort }, controller.signal)
    await deliverNotices(warehouse.db, robot.receiver, signal)
    expect(robot.sent()).toBe(1)
    expect(robot.lines).toEqual([])
  })

  test('each cause is cleared by itself, once, and an unknown field never', async () => {
    const robot = createRobot([ok])
    const gone = (channel: string): Cause => ({ kind: 'channelGone', channel })
    const unknownField: Cause = { kind: 'unknownField', stream: 'gifts', field: 'vip' }
    const notices = [[gone('9'), gone('10'), unknownField], [gone('9')], [], []]
    for (const [index, causes] of notices.entries()) {
      await recordCauses(warehouse.db, new Date(index), async () => causes)
      await deliverNotices(warehouse.db, robot.receiver, signal)
    }
    expect(robot.sent()).toBe(3)
    const alerts = warehouse.db.selectFrom('livehouse_ops.alerts').select('cleared_at').orderBy('alert_id')
    const clearedAt = (await alerts.execute()).map(({ cleared_at: at }) => at && Number(at))
    expect(clearedAt).toEqual([2, 1, null])
  })
})

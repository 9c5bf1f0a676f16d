import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readHealth } from '../../src/app/read-health.ts'
import { serve } from '../../src/cli/serve.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import type { Log } from '../../src/core/log.ts'
import { DAY, formatWallDate, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import type { Fault } from '../../src/emulator/faults.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { createRandom } from '../../src/emulator/world/random.ts'
import { streams } from '../../src/streams/registry.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { connectionReset, fieldValue, refusal } from '../helpers/fault-effects.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { createRollingWorld } from '../helpers/rolling-world.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'

const timeZone = 'Asia/Shanghai'
const HOUR = 3_600_000
const NIGHTS = 14
/** 10:00 in Shanghai. */
const START = Date.parse('2026-11-20T02:00:00Z')
const OLD_RECORDS = 2500
/** Decides when processes come and go: as in `model.test.ts` the same each time, unless `MODEL_SEED` says otherwise. */
const SEED = process.env.MODEL_SEED ?? '1472942793'
/** Nights, counted from 0, on which something happens. The service is away while there is old history to read. */
const AWAY = 1
const NEW_FIELD = 4
const UNKNOWN = { from: 7, goneOn: 9, to: 12 }

const jobs = createJobsFolder({
  nightly: `export default { cron: '15 2 * * *' }`,
  history: `export default { kind: 'backfill', cron: '20 0 * * *', streams: ['watch_records_v1'], range: { to: '2018-12-01' }, onlyGaps: true }`,
})

/** Simulated processes of `livehouse serve`, by the controller that ends them. */
const live = new Map<AbortController, ReturnType<typeof runVerb>>()
let whenServed = Promise.withResolvers<void>()
/** The number of runs under way. The queue runs in real time, and simulated time waits for it. */
let activeRuns = 0
const info: Log['info'] = (event) => {
  if (event === 'serve.started') whenServed.resolve()
  activeRuns += Number(event === 'job.started') - Number(event === 'job.ended')
}
const log = { ...silentLog, info }
const clock = createFakeClock({ startMs: START, gridMs: () => HOUR, isHeld: () => activeRuns > 0 })
const database = ofFile(createTestDatabase)
const began = wallTimeAt(START, timeZone)
const endsAt = began + (NIGHTS + 2) * DAY
const rolling = createRollingWorld({ seed: 3, channels: 2, viewers: 40, days: NIGHTS + 6, endsAt, timeZone }, began)
const emulator = ofFile(() => startEmulator({ clock, world: rolling.world }))
/** The notices that the receiver got, in order, such as `raised run=run nightly`. */
const notices: string[] = []
const receiver = ofFile(() =>
  startScriptedService(({ body }) => {
    for (const { event, cause } of Object(body).events) notices.push(`${event} ${cause}`)
    return { json: {} }
  }),
)

beforeAll(() => {
  const { oldRecords } = firstChannel(rolling)
  const record = first(oldRecords.rows)
  for (let number = 0; number < OLD_RECORDS; number++) {
    const enteredAt = record.enteredAt - number * 60
    oldRecords.add({ ...record, recordId: String(10_000 + number), enteredAt, leftAt: enteredAt + 30 })
  }
})
afterAll(endAll)

const environment = () => ({
  ...environmentOf(emulator, database),
  LIVEHOUSE_JOBS_DIR: jobs,
  LIVEHOUSE_HTTP: '127.0.0.1:0',
  LIVEHOUSE_ALERT_WEBHOOK: receiver.url,
})

/** Starts a process. Time stands still until it serves. */
async function start(): Promise<void> {
  const controller = new AbortController()
  whenServed = Promise.withResolvers()
  const ended = runVerb(serve, [], { environment: environment(), clock, log, signal: controller.signal })
  live.set(controller, ended)
  await Promise.race([whenServed.promise, ended])
}

/** Ends a process as SIGTERM does. */
async function end(served: AbortController): Promise<void> {
  const ended = live.get(served)
  live.delete(served)
  served.abort(new LivehouseError('run.interrupted', 'SIGTERM', { signal: 'SIGTERM' }))
  await ended
}

async function endAll(): Promise<void> {
  for (const served of live.keys()) await end(served)
}

async function passTime(untilMs: number): Promise<void> {
  while (clock.now() < untilMs) {
    rolling.rollTo(wallTimeAt(clock.now(), timeZone))
    await clock.runTo(Math.min(untilMs, clock.now() + 4 * HOUR))
  }
}

/** Sends all processes SIGTERM at the n-th call from now on, in the middle of a run. */
function terminateAtCall(number: number): void {
  let calls = 0
  const terminate = (answer: Answer): Answer => {
    if (++calls === number) for (const served of live.keys()) void end(served)
    return answer
  }
  emulator.faults.push({ effect: { name: 'terminate', answer: terminate } })
}

function faultsOf(night: number): readonly Fault[] {
  const [, channelId = ''] = emulator.channelIds
  if (night === AWAY) return [{ effect: connectionReset() }]
  if (night === NEW_FIELD) return [{ effect: fieldValue('mood', 'calm', 0), endpoint: 'visitorList' }]
  if (night >= UNKNOWN.from && night <= UNKNOWN.to) return [{ effect: refusal(404_002), channelId }]
  return []
}

/** Each cause is raised once and cleared once, whichever process notices it. */
function expectedNotices(): readonly string[] {
  const [, channelId = ''] = emulator.channelIds
  const bothOf = (cause: string) => [`raised ${cause}`, `cleared ${cause}`]
  return [
    ...['run=run nightly', 'run=run history', 'run=run nightly'].flatMap(bothOf),
    // A new field is never cleared.
    'raised field=visitors/mood',
    ...bothOf(`channel=${channelId}`),
  ]
}

test('over weeks of processes coming and going, each night runs once, leaves no gap and sends its alerts', async () => {
  const seed = SEED === 'random' ? randomInt(2 ** 31) : Number(SEED)
  process.stdout.write(`simulated weeks: seed ${seed}\n`)
  const random = createRandom(seed)
  await start()
  for (let day = 0; day < NIGHTS; day++) {
    const morning = START + day * 24 * HOUR
    // All may be away for part of the day, but one is there before the next night, and makes up for the last one.
    await passTime(morning + random.between(1, 8) * HOUR)
    if (random.chance(0.4)) await endAll()
    // Before the night's first job is due, at 00:20.
    await passTime(morning + random.between(9, 13) * HOUR)
    emulator.faults.push(...faultsOf(day))
    // An interrupted run counts the channels that it did not find, which would change the notices of a night.
    const isUnknown = day >= UNKNOWN.from && day <= UNKNOWN.to
    if (random.chance(0.4) && !isUnknown) terminateAtCall(random.between(1, 60))
    if (random.chance(0.7) || (live.size > 0 && random.chance(0.3))) await start()
    await passTime(morning + random.between(17, 20) * HOUR)
    emulator.faults.splice(0, Infinity, ...faultsOf(day))
    if (live.size === 0) await start()
    for (const served of [...live.keys()].slice(2)) await end(served)
    await passTime(morning + 24 * HOUR)
    emulator.faults.length = 0
  }

  const runs = await database.db
    .selectFrom('livehouse_ops.job_runs')
    .select(['local_time', 'status', 'outcome'])
    .where('job', '=', 'nightly')
    .orderBy('local_time')
    .execute()
  const nights = Array.from({ length: NIGHTS }, (_, night) => {
    const outcome = night === AWAY ? 'failed' : night >= UNKNOWN.from && night <= UNKNOWN.goneOn ? 'partial' : 'ok'
    return { local_time: `${formatWallDate(began + (night + 1) * DAY)} 02:15:00`, status: 'ended', outcome }
  })
  expect(runs).toEqual(nights)
  expect(notices.toSorted()).toEqual(expectedNotices().toSorted())
  for (const [cause, events] of Map.groupBy(notices, (line) => line.replace(/^\w+ /, ''))) {
    const isInTurn = events.every((line, index) => line.startsWith(index % 2 === 0 ? 'raised ' : 'cleared '))
    expect([cause, isInTurn]).toEqual([cause, true])
  }

  const budget = { v1Budget: 10, v1BudgetScope: 'account' } as const
  const { openCounts, units } = await readHealth(database.db, { nowMs: 0, budget })
  expect(openCounts).toMatchObject({ gap: 0, problem: 0 })
  for (const name of ['watch_records', 'gifts', 'signups']) {
    const reached = units.filter(({ stream }) => stream === name).map(({ until }) => until ?? 0)
    expect(Math.min(...reached), name).toBeGreaterThan(began + (NIGHTS - 1) * DAY)
  }

  // Ten calls a day, each reserved before it is made, none refused, and all records that only version 1 has.
  const old = emulator.calls.filter(({ endpoint }) => endpoint === 'userRecords')
  const perDay = Map.groupBy(old, ({ at }) => formatWallDate(wallTimeAt(at, timeZone)))
  const reserved = await database.db
    .selectFrom('livehouse_ops.call_budget')
    .select(['scope', sql<string>`service_day::text`.as('day'), 'calls'])
    .orderBy('service_day')
    .execute()
  expect(reserved.map(({ scope, day }) => `${scope} ${day}`)).toEqual([...perDay.keys()].map((day) => `account ${day}`))
  for (const { day, calls } of reserved) {
    expect(calls, day).toBeLessThanOrEqual(10)
    // A call that SIGTERM stopped before it was made stays reserved.
    expect(perDay.get(day)?.length, day).toBeLessThanOrEqual(calls)
  }
  expect(emulator.calls.filter(({ status }) => status === 429)).toEqual([])
  const { rows } = await sql`select from livehouse.watch_records where api_version = 1`.execute(database.db)
  expect(rows.length).toBeGreaterThan(OLD_RECORDS)

  // The next night reads what has come since the last one.
  await endAll()
  await start()
  await clock.runTo(START + (NIGHTS + 1) * 24 * HOUR)
  const names = streams.map(({ name }) => name).filter((name) => name !== 'manager_usage')
  await expectTruth({ emulator, database }, names)
})

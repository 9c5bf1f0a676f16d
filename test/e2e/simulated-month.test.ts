import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { DAY, formatWallDate, formatWallTime, wallTimeAt } from '../../src/core/wall-clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import { createRandom } from '../../src/emulator/world/random.ts'
import { readOpenPoints } from '../../src/state/read-open-points.ts'
import { readStreamStates } from '../../src/state/read-stream-states.ts'
import { streams } from '../../src/streams/registry.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createLockstepClock } from '../helpers/lockstep-clock.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { createRollingWorld, type RollingWorld } from '../helpers/rolling-world.ts'
import { environmentOf, runVerb, type VerbRun } from '../helpers/run-verb.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const timeZone = 'Asia/Shanghai'
const HOUR = 3_600_000
const NIGHTS = 30
/** 10:00 in Shanghai. */
const START = Date.parse('2026-11-20T02:00:00Z')
const OLD_RECORDS = 2500

const jobs = createTemporaryFolder('jobs')
writeFileSync(join(jobs, 'nightly.ts'), `export default { cron: '15 2 * * *', rereadDays: 30 }`)
writeFileSync(
  join(jobs, 'history.ts'),
  `export default { kind: 'backfill', cron: '20 0 * * *', streams: ['watch_records_v1'], range: { to: '2018-12-01' }, onlyGaps: true }`,
)

/** A process of `livehouse serve`, as far as it can be one within this. */
interface Served {
  readonly ended: Promise<VerbRun>
  readonly terminate: () => void
}

const live = new Set<Served>()
const { log, lines } = createRecordingLog()
const countOf = (event: string) => lines.filter((line) => line.event === event).length
const clock = createLockstepClock({
  startMs: START,
  sleepers: () => live.size,
  isBusy: () => countOf('job.started') > countOf('job.ended'),
  gridMs: () => HOUR,
})
let database: TestDatabase
let emulator: Emulator
let rolling: RollingWorld

beforeAll(async () => {
  database = await createTestDatabase()
  const now = wallTimeAt(START, timeZone)
  const days = NIGHTS + 6
  rolling = createRollingWorld(
    { seed: 3, channels: 2, viewers: 40, days, endsAt: now + (NIGHTS + 2) * DAY, timeZone },
    now,
  )
  const [channel] = rolling.world.channels.values()
  const [record] = channel?.oldRecords.rows ?? []
  if (channel === undefined || record === undefined) throw new Error('the world has no old records')
  for (let number = 0; number < OLD_RECORDS; number++) {
    const enteredAt = record.enteredAt - number * 60
    channel.oldRecords.add({ ...record, recordId: String(10_000 + number), enteredAt, leftAt: enteredAt + 30 })
  }
  emulator = await startEmulator({ clock, world: rolling.world })
})
afterAll(async () => {
  for (const served of live) await end(served)
  await emulator[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

function start(): Served {
  const controller = new AbortController()
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_JOBS_DIR: jobs, LIVEHOUSE_HTTP: '127.0.0.1:0' }
  const ended = runVerb(serve, [], { environment, clock, log, signal: controller.signal })
  const served = {
    ended,
    terminate: () => controller.abort(new LivehouseError('run.interrupted', 'SIGTERM', { signal: 'SIGTERM' })),
  }
  live.add(served)
  return served
}

async function end(served: Served): Promise<void> {
  live.delete(served)
  served.terminate()
  await served.ended
}

/** Lets time pass, and rows come, a few hours at a time. */
async function passTime(untilMs: number): Promise<void> {
  while (clock.now() < untilMs) {
    rolling.rollTo(wallTimeAt(clock.now(), timeZone))
    await clock.runTo(Math.min(untilMs, clock.now() + 4 * HOUR))
  }
}

/** SIGTERM at the n-th call from now on, in the middle of a run. */
function terminateAtCall(number: number): void {
  let calls = 0
  emulator.faults.push({
    effect: {
      name: 'terminate',
      answer: (answer) => {
        if (++calls === number) for (const served of live) void end(served)
        return answer
      },
    },
  })
}

test('over a month, with processes that come and go, each night runs once and leaves no gap', {
  timeout: 300_000,
}, async () => {
  const seed = randomInt(2 ** 31)
  process.stdout.write(`a simulated month: seed ${seed}\n`)
  const random = createRandom(seed)
  start()
  for (let day = 0; day < NIGHTS; day++) {
    const morning = START + day * 24 * HOUR
    // Away for any part of the day, but there at some time before the next night: then that is made up for.
    await passTime(morning + random.between(1, 8) * HOUR)
    if (random.chance(0.4)) for (const served of live) await end(served)
    await passTime(morning + random.between(9, 15) * HOUR)
    emulator.faults.length = 0
    if (random.chance(0.4)) terminateAtCall(random.between(1, 60))
    if (random.chance(0.7) || (live.size > 0 && random.chance(0.3))) start()
    await passTime(morning + random.between(17, 22) * HOUR)
    emulator.faults.length = 0
    if (live.size === 0) start()
    for (const served of [...live].slice(2)) await end(served)
    await passTime(morning + 24 * HOUR)
  }

  const runs = await database.db
    .selectFrom('livehouse_ops.job_runs')
    .select(['local_time', 'status', 'outcome', 'error'])
    .where('job', '=', 'nightly')
    .orderBy('local_time')
    .execute()
  const first = wallTimeAt(START, timeZone)
  const nights = Array.from({ length: NIGHTS }, (_, night) => `${formatWallDate(first + (night + 1) * DAY)} 02:15:00`)
  expect(runs).toEqual(nights.map((local_time) => ({ local_time, status: 'ended', outcome: 'ok', error: null })))

  const { gapCount, shortfallCount } = await readOpenPoints(database.db, 10)
  expect({ gapCount, shortfallCount }).toEqual({ gapCount: 0, shortfallCount: 0 })
  const states = await readStreamStates(database.db)
  for (const name of ['watch_records', 'gifts', 'signups']) {
    expect((states.get(name)?.coveredUntil ?? '') > formatWallTime(first + (NIGHTS - 1) * DAY), name).toBe(true)
  }

  // Ten calls a day, and all of what only version 1 has.
  const old = emulator.calls.filter(({ endpoint }) => endpoint === 'userRecords')
  const perDay = Map.groupBy(old, ({ at }) => formatWallDate(wallTimeAt(at, timeZone)))
  expect(Math.max(...[...perDay.values()].map((calls) => calls.length))).toBeLessThanOrEqual(10)
  const { rows } = await sql`select from livehouse.watch_records where api_version = 1`.execute(database.db)
  expect(rows.length).toBeGreaterThan(OLD_RECORDS)

  // What has come since the last night is for the next.
  for (const served of live) await end(served)
  start()
  await clock.runTo(START + (NIGHTS + 1) * 24 * HOUR)
  await expectTruth(
    { emulator, database },
    streams.map(({ name }) => name).filter((name) => name !== 'manager_usage'),
  )
})

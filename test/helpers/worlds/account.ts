import { sql } from 'kysely'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from '../../../src/cli/audit.ts'
import type { Command } from '../../../src/cli/command.ts'
import { exitCodeOfError } from '../../../src/cli/failure.ts'
import { run } from '../../../src/cli/run.ts'
import { sync } from '../../../src/cli/sync.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { type WallTime, wallTimeAt } from '../../../src/core/wall-clock.ts'
import type { EndpointName } from '../../../src/emulator/endpoint.ts'
import { status } from '../fault-effects.ts'
import type { Fault } from '../../../src/emulator/faults.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/server.ts'
import { emptyTables } from '../empty-tables.ts'
import { FIXED_NOW } from '../emulated-service.ts'
import { createModelWorld, type ModelWorld, streamsOf } from '../model/model-world.ts'
import type { TestDatabase } from '../postgres.ts'
import { credentialsOf, environmentOf, runVerb } from '../run-verb.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { clampedTo, furnish, hiding } from './furnish.ts'
import type { Scenario } from './scenario.ts'
import { beyondPage } from './troubles.ts'

const TIME_ZONE = 'Asia/Shanghai'
export const CHANNELS = 3
const JOB_LOOKBACKS = [5, 30] as const
const endpoints = {
  gifts: ['giftRunning'],
  signups: ['signupRecord', 'getQuestionList'],
  visitors: ['visitorList'],
  records: ['userRecordList'],
  old: ['userRecords'],
  managers: ['managers', 'managersUsage'],
} as const satisfies Record<Scenario['group'], readonly EndpointName[]>

const streamsOfGroup = {
  ...streamsOf,
  old: ['watch_records_v1'],
  managers: ['managers'],
} as const satisfies Record<Scenario['group'], readonly string[]>

export interface Ended {
  readonly code: number
  /** What the service's clock showed when the run first asked for it: what is later than that is asked for by a later run. */
  readonly begunAt: WallTime
  /** What it printed, parsed. */
  readonly output: Readonly<Record<string, unknown>>
  readonly error: unknown
}

/** What a run is asked for beside its streams. */
export interface Asked {
  readonly channels: readonly string[]
  /** A date. */
  readonly from: string
  /** A job with this lookback in place of a plain sync. */
  readonly lookback?: number | undefined
}

/** An account in a world of its own, run through the command line. */
export interface WorldAccount extends AsyncDisposable {
  readonly database: TestDatabase
  readonly emulator: Emulator
  readonly worlds: readonly ModelWorld[]
  readonly streams: readonly string[]
  readonly list: EndpointName
  /** Both in milliseconds; may be set. */
  readonly time: { serviceMs: number; ownAheadMs: number }
  readonly now: () => WallTime
  /** What happens to calls from now on, beside what the world is like. */
  readonly befall: (faults: readonly Fault[]) => void
  /** Called when a call arrives, and when the answer to a later page is ready. */
  onCall: (() => Promise<void>) | undefined
  readonly sync: (asked: Asked) => Promise<Ended>
  readonly audit: (asked: Asked) => Promise<Ended>
}

let jobs: string | undefined

/** One folder with a job for each lookback, for all accounts of a test file. */
function jobsFolder(): string {
  if (jobs !== undefined && existsSync(jobs)) return jobs
  jobs = createTemporaryFolder('worlds')
  for (const days of JOB_LOOKBACKS) {
    const lookback = `{ gifts: ${days}, signups: ${days}, watch_records: ${days} }`
    for (const [group, streams] of Object.entries(streamsOfGroup)) {
      const job = `export default { cron: '@weekly', streams: ${JSON.stringify(streams)}, lookbackDays: ${lookback} }`
      writeFileSync(join(jobs, `${group}-${days}.ts`), job)
    }
  }
  return jobs
}

export async function openWorldAccount(database: TestDatabase, scenario: Scenario): Promise<WorldAccount> {
  const { group } = scenario
  await emptyTables(database.db)
  await sql`delete from livehouse_ops.source`.execute(database.db)
  const time = { serviceMs: FIXED_NOW, ownAheadMs: 0 }
  const now = () => wallTimeAt(time.serviceMs, TIME_ZONE)
  const worlds = Array.from({ length: CHANNELS }, (_, place) =>
    createModelWorld(scenario.ages.slice(0, place === 0 ? undefined : 3)),
  )
  const [first] = worlds
  if (first === undefined) throw new Error('no world')
  const { world } = first
  for (const [place, other] of worlds.entries()) {
    const [channel] = other.world.channels.values()
    if (channel && place > 0)
      world.channels.set(`${Number(channel.id) + place}`, { ...channel, id: `${Number(channel.id) + place}` })
  }
  furnish(first, scenario)
  let hook: WorldAccount['onCall']
  /** Runs under way, the innermost last. */
  const underway: { begunAt: WallTime | undefined }[] = []
  const arrived = async () => {
    await hook?.()
    const innermost = underway.at(-1)
    if (innermost) innermost.begunAt ??= Math.min(now(), now() + emulator.conditions.clockAheadMs / 1000)
  }
  const emulator = await startEmulator({
    clock: { now: () => time.serviceMs, sleep: arrived },
    world,
    switches: { ...scenario.switches, longestWindowDays: scenario.longestRange, largestTotal: scenario.cap },
    conditions: { latencyMs: 0.5, deepPageMs: 1 },
  })
  const clock: Clock = {
    now: () => time.serviceMs + time.ownAheadMs,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      time.serviceMs += ms
      await new Promise(setImmediate)
      signal?.throwIfAborted()
    },
  }
  const streams = streamsOfGroup[group]
  const secret = { ...credentialsOf(emulator), LIVEHOUSE_API_TOKEN: '' }
  const perform = async (verb: Command, argv: readonly string[], { channels, from }: Asked): Promise<Ended> => {
    const environment = {
      ...environmentOf(emulator, database),
      ...(scenario.fetchesTokens ? secret : {}),
      LIVEHOUSE_CHANNELS: channels.join(),
      LIVEHOUSE_HISTORY_FROM: from,
      LIVEHOUSE_JOBS_DIR: jobsFolder(),
    }
    const begun: (typeof underway)[number] = { begunAt: undefined }
    underway.push(begun)
    const { code, printed, error } = await runVerb(verb, [...argv, '--json'], { environment, clock })
    underway.pop()
    return {
      code: code ?? exitCodeOfError(error),
      begunAt: begun.begunAt ?? now(),
      output: printed.length > 0 ? JSON.parse(printed.join('')) : {},
      error,
    }
  }
  return {
    database,
    emulator,
    worlds,
    streams,
    list: endpoints[group][0],
    time,
    now,
    befall: (faults) => {
      emulator.faults.length = 0
      const every = endpoints[group].map((endpoint) => ({ endpoint }))
      for (const where of every) {
        if (scenario.clamp !== undefined) emulator.faults.push({ ...where, effect: clampedTo(scenario.clamp) })
        if (scenario.hides) emulator.faults.push({ ...where, effect: hiding })
        if (scenario.depth !== undefined)
          emulator.faults.push({ ...where, effect: beyondPage(scenario.depth, status(400)) })
      }
      emulator.faults.push(...faults)
    },
    get onCall() {
      return hook
    },
    set onCall(next) {
      hook = next
    },
    sync: async (asked) => {
      if (asked.lookback !== undefined) return await perform(run, [`${group}-${asked.lookback}`], asked)
      return await perform(sync, ['--streams', streams.join()], asked)
    },
    audit: async (asked) => {
      const range = group === 'gifts' ? ['--from', '2000-01-01'] : []
      return await perform(audit, ['--streams', streams.join(), ...range], asked)
    },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}

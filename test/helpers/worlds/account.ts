import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { audit } from '../../../src/cli/audit.ts'
import type { Command } from '../../../src/cli/command.ts'
import { exitCodeOfError } from '../../../src/cli/exit-codes.ts'
import { run } from '../../../src/cli/run.ts'
import { sync } from '../../../src/cli/sync.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { type WallTime, wallTimeAt } from '../../../src/core/wall-clock.ts'
import type { Fault } from '../../../src/emulator/faults.ts'
import { startEmulator } from '../../../src/emulator/server.ts'
import { emptyTables } from '../empty-tables.ts'
import { FIXED_NOW } from '../emulated-service.ts'
import { status } from '../fault-effects.ts'
import { createModelWorld, streamsOf } from '../model/model-world.ts'
import type { TestDatabase } from '../postgres.ts'
import { credentialsOf, environmentOf, runVerb } from '../run-verb.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { addOddRows, clampedTo, hiding } from './add-odd-rows.ts'
import type { Scenario } from './scenario.ts'
import { beyondPage } from './troubles.ts'

const TIME_ZONE = 'Asia/Shanghai'
export const CHANNELS = 3
const endpoints = {
  gifts: ['giftRunning'],
  signups: ['signupRecord', 'getQuestionList'],
  visitors: ['visitorList'],
  records: ['userRecordList'],
  old: ['userRecords'],
  managers: ['managers', 'managersUsage'],
} as const satisfies Record<Scenario['group'], readonly string[]>

const streamsOfGroup = {
  ...streamsOf,
  old: ['watch_records_v1'],
  managers: ['managers'],
} as const satisfies Record<Scenario['group'], readonly string[]>

export interface RunEnd {
  readonly code: number
  /** The service's time when the run first called it. Only a later run reads what is later than that. */
  readonly startedAt: WallTime
  readonly output: Readonly<Record<string, unknown>>
  readonly error: unknown
}

/** What a run reads, besides its streams. */
export interface RunScope {
  readonly channels: readonly string[]
  readonly from: string
  /** The lookback of a job that runs instead of a plain sync. */
  readonly lookback?: number | undefined
}

export type WorldAccount = Awaited<ReturnType<typeof openWorldAccount>>

/** Opens an account with a world of its own, which is used through the command line. */
export async function openWorldAccount(database: TestDatabase, scenario: Scenario) {
  const { group } = scenario
  await emptyTables(database.db)
  await sql`delete from livehouse_ops.source`.execute(database.db)
  /** In milliseconds; both may be set. */
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
    const id = String(Number(channel?.id) + place)
    if (channel && place > 0) world.channels.set(id, { ...channel, id })
  }
  addOddRows(first, scenario)
  /** Called when a call arrives, and when the answer to a later page is ready. */
  const hooks = { onCall: async (): Promise<void> => {} }
  /** The runs that are under way, the innermost last. */
  const runs: { startedAt: WallTime | undefined }[] = []
  const onArrival = async () => {
    await hooks.onCall()
    const innermost = runs.at(-1)
    if (innermost) innermost.startedAt ??= Math.min(now(), now() + emulator.conditions.clockAheadMs / 1000)
  }
  const emulator = await startEmulator({
    clock: { now: () => time.serviceMs, sleep: onArrival },
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
  const streams: readonly string[] = streamsOfGroup[group]
  const jobs = createTemporaryFolder('worlds')
  const credentials = { ...credentialsOf(emulator), LIVEHOUSE_API_TOKEN: '' }
  const perform = async (verb: Command, argv: readonly string[], { channels, from }: RunScope): Promise<RunEnd> => {
    const environment = {
      ...environmentOf(emulator, database),
      ...(scenario.fetchesTokens ? credentials : {}),
      LIVEHOUSE_CHANNELS: channels.join(),
      LIVEHOUSE_HISTORY_FROM: from,
      LIVEHOUSE_JOBS_DIR: jobs,
    }
    const current: (typeof runs)[number] = { startedAt: undefined }
    runs.push(current)
    const { code, printed, error } = await runVerb(verb, [...argv, '--json'], { environment, clock })
    runs.pop()
    const output = printed.length > 0 ? JSON.parse(printed.join('')) : {}
    return { code: code ?? exitCodeOfError(error), startedAt: current.startedAt ?? now(), output, error }
  }
  return {
    database,
    emulator,
    worlds,
    streams,
    list: endpoints[group][0],
    time,
    now,
    hooks,
    /** Sets the faults from now on, besides the limits of the service. */
    setFaults: (faults: readonly Fault[]) => {
      const limits = endpoints[group].flatMap((endpoint) => [
        ...(scenario.clamp === undefined ? [] : [{ endpoint, effect: clampedTo(scenario.clamp) }]),
        ...(scenario.hides ? [{ endpoint, effect: hiding }] : []),
        ...(scenario.depth === undefined ? [] : [{ endpoint, effect: beyondPage(scenario.depth, status(400)) }]),
      ])
      emulator.faults.splice(0, Infinity, ...limits, ...faults)
    },
    sync: async (scope: RunScope): Promise<RunEnd> => {
      const { lookback } = scope
      if (lookback === undefined) return await perform(sync, ['--streams', streams.join()], scope)
      const lookbackDays = { gifts: lookback, signups: lookback, watch_records: lookback }
      const job = JSON.stringify({ cron: '@weekly', streams, lookbackDays })
      writeFileSync(join(jobs, `late-${lookback}.ts`), `export default ${job}`)
      return await perform(run, [`late-${lookback}`], scope)
    },
    audit: async (scope: RunScope): Promise<RunEnd> => {
      const range = group === 'gifts' ? ['--from', '2000-01-01'] : []
      return await perform(audit, ['--streams', streams.join(), ...range], scope)
    },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}

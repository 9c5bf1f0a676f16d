import pLimit from 'p-limit'
import type { Log } from '../../src/core/log.ts'
import type { ProgressEvent } from '../../src/core/outcome.ts'
import type { StreamName } from '../../src/core/stream.ts'
import { openWallClock, parseWallTime, wallTimeAt } from '../../src/core/wall-clock.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { type BudgetSettings, callBudget } from '../../src/ledger/call-budget.ts'
import { registerChannels } from '../../src/ledger/channels.ts'
import { Leases } from '../../src/ledger/leases.ts'
import { startRun } from '../../src/ledger/runs.ts'
import { allStreams, streams } from '../../src/streams/registry.ts'
import { planAgain } from '../../src/sync/plan-again.ts'
import { planSync } from '../../src/sync/plan-slices.ts'
import { createReadAhead } from '../../src/sync/read-pages.ts'
import { runStreams } from '../../src/sync/run-streams.ts'
import type { JobResult } from '../../src/sync/tally.ts'
import { connectClient } from './connect-client.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { silentLog } from './silent-log.ts'

export const TIME_ZONE = 'Asia/Shanghai'

export interface SyncOptions {
  readonly streams?: readonly StreamName[]
  /** Rows a page, where the stream's own maximum is not less. */
  readonly pageSize?: number
  readonly signal?: AbortSignal
  readonly report?: (event: ProgressEvent) => void
  readonly log?: Log
  /** Calls a day on 4.6, 10 by default, and whom they belong to. */
  readonly budget?: Partial<Pick<BudgetSettings, 'v1Budget' | 'v1BudgetScope'>>
  /** What happens between the plan and the first lease. */
  readonly whenPlanned?: () => Promise<unknown>
}

/** An emulator, a fresh warehouse and the pipeline between them, at a clock that stands until it is moved. */
export interface TestPipeline extends AsyncDisposable {
  readonly emulator: Emulator
  readonly database: TestDatabase
  readonly clock: { nowMs: number }
  readonly sync: (options?: SyncOptions) => Promise<JobResult>
}

export async function startPipeline(options: EmulatorOptions = {}): Promise<TestPipeline> {
  const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  const database = await createTestDatabase()
  const emulator = await startEmulator({ channels: 2, viewers: 60, clock, ...options })
  const { db } = database
  let budget: BudgetSettings = { v1Budget: 10, v1BudgetScope: 'account', timeZone: TIME_ZONE }
  const connection = connectClient(emulator.baseUrl, {
    apiToken: emulator.apiToken,
    clock,
    reserve: async (...call) => await callBudget(db, budget, clock)(...call),
  })

  return {
    emulator,
    database,
    clock,
    sync: async ({
      streams: names,
      pageSize = Infinity,
      signal = new AbortController().signal,
      report = () => {},
      log = silentLog,
      budget: given = {},
      whenPlanned = async () => {},
    } = {}) => {
      budget = { v1Budget: 10, v1BudgetScope: 'account', timeZone: TIME_ZONE, ...given }
      const begunAt = new Date(clock.now())
      const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: begunAt })
      const channels = emulator.channelIds.map((channelId) => ({ channelId, label: null, group: null, isTest: false }))
      await registerChannels(db, channels, runId)
      const { fetchPage } = connection
      const deps = { db, fetchPage, clock, log, signal, report, runId }
      const plan = {
        channels: channels.map(({ channelId }) => ({ channelId, from: undefined, until: undefined })),
        historyFrom: parseWallTime('2015-01-01') ?? 0,
        now: wallTimeAt(clock.now(), TIME_ZONE),
        timeZone: TIME_ZONE,
      }
      await using leases = new Leases(db)
      return await runStreams(
        (names === undefined ? streams : allStreams.filter(({ name }) => names.includes(name))).map((stream) => ({
          ...stream,
          pageSize: Math.min(pageSize, stream.pageSize),
        })),
        async (some, questionsOf) => {
          const plans = await planSync(db, { ...plan, streams: some }, questionsOf)
          if (plans.length > 0) await whenPlanned()
          return plans
        },
        {
          ...deps,
          timeZone: TIME_ZONE,
          claimableMs: clock.now,
          wallTimeAt: openWallClock(TIME_ZONE),
          readAhead: createReadAhead(12),
          requireLease: leases.requirePartition,
          loadLimit: pLimit(2),
          pagesPerSlice: 50,
        },
        { concurrency: 4, leases, planAgain: (partition) => planAgain(db, partition, begunAt, TIME_ZONE) },
      )
    },
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]()
      await emulator[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

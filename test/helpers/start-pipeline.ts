import { parseWallTime } from '../../src/core/wall-clock.ts'
import { type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { type BudgetSettings, callBudget } from '../../src/ledger/call-budget.ts'
import { streams } from '../../src/streams/registry.ts'
import { connectClient } from './connect-client.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase } from './postgres.ts'
import { type SyncStreams, syncStreams, TIME_ZONE } from './sync-streams.ts'

export interface SyncOptions
  extends Partial<Omit<SyncStreams, 'emulator' | 'clock' | 'fetchPage' | 'historyFrom' | 'pagesPerSlice'>> {
  /** Calls a day on 4.6, 10 by default, and whether each channel has them. */
  readonly budget?: Partial<Pick<BudgetSettings, 'v1Budget' | 'v1BudgetScope'>>
}

export type TestPipeline = Awaited<ReturnType<typeof startPipeline>>

/** An emulator, a fresh warehouse and the pipeline between them, at a clock that stands until it is moved. */
export async function startPipeline(options: EmulatorOptions = {}) {
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
    sync: async ({ budget: given = {}, signal = new AbortController().signal, ...options }: SyncOptions = {}) => {
      budget = { v1Budget: 10, v1BudgetScope: 'account', timeZone: TIME_ZONE, ...given }
      return await syncStreams(db, {
        emulator,
        clock,
        fetchPage: connection.fetchPage,
        streams: streams.map(({ name }) => name),
        historyFrom: parseWallTime('2015-01-01') ?? 0,
        pageSize: Infinity,
        pagesPerSlice: 50,
        signal,
        ...options,
      })
    },
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]()
      await emulator[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

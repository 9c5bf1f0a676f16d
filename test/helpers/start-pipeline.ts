import { parseWallTime } from '../../src/core/wall-clock.ts'
import { type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { callBudget } from '../../src/ledger/call-budget.ts'
import { streams } from '../../src/streams/registry.ts'
import { connectClient } from './connect-client.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { expectTruth } from './expect-truth.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase } from './postgres.ts'
import { type SyncStreams, syncStreams, TIME_ZONE } from './sync-streams.ts'

export type SyncOptions = Partial<Omit<SyncStreams, 'emulator' | 'clock' | 'historyFrom' | 'pagesPerSlice'>>

export type TestPipeline = Awaited<ReturnType<typeof startPipeline>>

/** Starts an emulator, a new warehouse and the pipeline between them, with a clock like that of `startAccount`. */
export async function startPipeline(options: EmulatorOptions = {}) {
  const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  const resources = new AsyncDisposableStack()
  const database = resources.use(await createTestDatabase())
  const emulator = resources.use(await startEmulator({ channels: 2, viewers: 60, clock, ...options }))
  const { db } = database
  const reserve = callBudget(db, { v1Budget: 10, v1BudgetScope: 'account', timeZone: TIME_ZONE }, clock)
  const connection = resources.use(connectClient(emulator.baseUrl, { apiToken: emulator.apiToken, clock, reserve }))

  return {
    emulator,
    database,
    clock,
    fetchPage: connection.fetchPage,
    sync: async (options: SyncOptions = {}, warehouse = db) =>
      await syncStreams(warehouse, {
        emulator,
        clock,
        fetchPage: connection.fetchPage,
        streams: streams.map(({ name }) => name),
        historyFrom: parseWallTime('2015-01-01') ?? 0,
        pageSize: Infinity,
        pagesPerSlice: 50,
        signal: new AbortController().signal,
        ...options,
      }),
    /** Expects the warehouse to equal the service, for all streams if none are named. */
    expectTruth: async (names?: readonly string[]) => await expectTruth({ emulator, database }, names),
    [Symbol.asyncDispose]: async () => await resources.disposeAsync(),
  }
}

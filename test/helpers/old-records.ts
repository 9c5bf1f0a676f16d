import type { WatchRecord } from '../../src/emulator/world/world.ts'
import type { JobResult } from '../../src/sync/tally.ts'
import { parseWallTime, type WallTime } from '../../src/core/wall-clock.ts'
import { startPipeline, type SyncOptions, type TestPipeline } from './start-pipeline.ts'

export const DAY_MS = 86_400_000

/** One channel whose records version 1 has, and syncs of these alone with pages of five rows. */
export interface OldRecords extends AsyncDisposable {
  readonly pipeline: TestPipeline
  /** Gives the channel exactly so many records, one a minute from `from` (autumn 2018) on. */
  readonly set: (count: number, from?: WallTime) => void
  readonly add: (id: number, enteredAt: WallTime) => void
  /** Takes the youngest away. @returns what puts it back */
  readonly removeYoungest: () => () => void
  readonly sync: (v1Budget?: number, options?: SyncOptions) => Promise<JobResult>
  /** The pages of the old range that were asked for, in order; the youngest days are a slice of their own. */
  readonly pagesAsked: () => readonly (number | undefined)[]
  readonly readSlices: () => Promise<readonly Readonly<Record<string, unknown>>[]>
}

export const autumn = parseWallTime('2018-10-01') ?? 0

export async function startOldRecords(): Promise<OldRecords> {
  const pipeline = await startPipeline({ channels: 1, viewers: 5, days: 1 })
  const { emulator, database } = pipeline
  const [channel] = emulator.world.channels.values()
  const list = channel?.oldRecords
  const [template] = list?.rows ?? []
  if (!list || !template) throw new Error('no old record')
  const recordAt = (id: number, enteredAt: WallTime): WatchRecord => {
    return { ...template, recordId: String(100_000 + id), userId: `u${id}`, enteredAt, leftAt: enteredAt + 60 }
  }
  return {
    pipeline,
    set: (count, from = autumn) => {
      for (const row of list.rows.slice()) list.remove(row)
      list.add(...Array.from({ length: count }, (_, index) => recordAt(index, from + index * 60)))
    },
    add: (id, enteredAt) => list.add(recordAt(id, enteredAt)),
    removeYoungest: () => {
      const [youngest] = list.rows.toSorted((a, b) => b.enteredAt - a.enteredAt)
      if (!youngest) throw new Error('no record')
      list.remove(youngest)
      return () => list.add(youngest)
    },
    sync: async (v1Budget = 3, options = {}) =>
      await pipeline.sync({ streams: ['watch_records_v1'], pageSize: 5, budget: { v1Budget }, ...options }),
    pagesAsked: () =>
      emulator.calls
        .filter(({ endpoint, params }) => endpoint === 'userRecords' && String(params.start_time) < '2026')
        .map(({ page }) => page),
    readSlices: async () =>
      await database.db
        .selectFrom('livehouse_ops.slices')
        .select(['proof', 'status', 'distinct_rows', 'calls', 'retries', 'error'])
        .orderBy('slice_id')
        .execute(),
    [Symbol.asyncDispose]: async () => await pipeline[Symbol.asyncDispose](),
  }
}

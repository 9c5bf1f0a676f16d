import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { defaultSwitches } from '../../src/emulator/switches.ts'
import type { Channel, Gift, Visitor } from '../../src/emulator/world/world.ts'
import { emptyTables } from './empty-tables.ts'
import { firstRows } from './first-rows.ts'
import { startPipeline, type TestPipeline } from './start-pipeline.ts'

/** One channel with numbered visitors and gifts, and the pipeline. */
export interface NumberedLists extends AsyncDisposable {
  readonly pipeline: TestPipeline
  readonly emulator: Emulator
  readonly channel: Channel
  /** What the numbered ones are made of. */
  readonly visitor: Visitor
  readonly gift: Gift
  /** Empties the lists and the tables, and ends every fault. */
  readonly reset: () => Promise<void>
  /** `v0` was online last: lists begin with it. */
  readonly addVisitors: (count: number) => void
  readonly breakList: (endpoint: NonNullable<Fault['endpoint']>, effect: FaultEffect, fault?: Partial<Fault>) => void
  readonly jumpToFront: (userId: string) => void
  readonly readQuarantine: () => Promise<readonly { raw: string; reason: string; resolved_at: Date | null }[]>
}

export async function startNumberedLists(): Promise<NumberedLists> {
  const pipeline = await startPipeline({ channels: 1, days: 1 })
  const { emulator, database } = pipeline
  const { channel, visitor, gift } = firstRows(emulator)
  return {
    pipeline,
    emulator,
    channel,
    visitor,
    gift,
    reset: async () => {
      emulator.faults.length = 0
      Object.assign(emulator.switches, defaultSwitches)
      for (const row of channel.visitors.rows.slice()) channel.visitors.remove(row)
      for (const row of channel.gifts.rows.slice()) channel.gifts.remove(row)
      await emptyTables(database.db)
    },
    addVisitors: (count) => {
      const rows = Array.from({ length: count }, (_, place) => ({
        ...visitor,
        userId: `v${place}`,
        lastOnlineAt: visitor.lastOnlineAt - place * 60,
      }))
      channel.visitors.add(...rows)
    },
    breakList: (endpoint, effect, fault = {}) => {
      emulator.faults.push({ endpoint, effect, ...fault })
    },
    jumpToFront: (userId) => {
      const row = channel.visitors.rows.find((each) => each.userId === userId)
      const newest = Math.max(...channel.visitors.rows.map(({ lastOnlineAt }) => lastOnlineAt))
      if (row) channel.visitors.replace(row, { ...row, lastOnlineAt: newest + 1, visitTimes: row.visitTimes + 1 })
    },
    readQuarantine: async () =>
      await database.db.selectFrom('livehouse_ops.quarantine').select(['raw', 'reason', 'resolved_at']).execute(),
    [Symbol.asyncDispose]: async () => {
      await pipeline[Symbol.asyncDispose]()
    },
  }
}

/** Changes the world before a page is served. */
export function meanwhile(change: () => void): FaultEffect {
  return {
    name: 'meanwhile',
    query: (query) => {
      change()
      return query
    },
  }
}

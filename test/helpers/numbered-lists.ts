import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import { defaultSwitches } from '../../src/emulator/switches.ts'
import { emptyTables } from './empty-tables.ts'
import { firstRows } from './first-rows.ts'
import { startPipeline } from './start-pipeline.ts'

/** One channel with numbered visitors, and the pipeline. */
export async function startNumberedLists() {
  const pipeline = await startPipeline({ channels: 1, days: 1 })
  const { emulator, database } = pipeline
  const { channel, visitor } = firstRows(emulator)
  return {
    pipeline,
    emulator,
    channel,
    /** What the numbered ones are made of. */
    visitor,
    /** Empties the lists and the tables, and ends every fault. */
    reset: async () => {
      emulator.faults.length = 0
      Object.assign(emulator.switches, defaultSwitches)
      for (const row of channel.visitors.rows.slice()) channel.visitors.remove(row)
      await emptyTables(database.db)
    },
    /** `v0` was online last: lists begin with it. */
    addVisitors: (count: number) => {
      const rows = Array.from({ length: count }, (_, place) => ({
        ...visitor,
        userId: `v${place}`,
        lastOnlineAt: visitor.lastOnlineAt - place * 60,
      }))
      channel.visitors.add(...rows)
    },
    breakList: (endpoint: NonNullable<Fault['endpoint']>, effect: FaultEffect, fault: Partial<Fault> = {}) => {
      emulator.faults.push({ endpoint, effect, ...fault })
    },
    jumpToFront: (userId: string) => {
      const row = channel.visitors.rows.find((each) => each.userId === userId)
      const newest = Math.max(...channel.visitors.rows.map(({ lastOnlineAt }) => lastOnlineAt))
      if (row) channel.visitors.replace(row, { ...row, lastOnlineAt: newest + 1, visitTimes: row.visitTimes + 1 })
    },
    readQuarantine: async () =>
      await database.db.selectFrom('livehouse_ops.quarantine').select(['raw', 'reason', 'resolved_at']).execute(),
    [Symbol.asyncDispose]: () => pipeline[Symbol.asyncDispose](),
  }
}

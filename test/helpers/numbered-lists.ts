import type { FetchPage, ListRequest } from '../../src/core/page.ts'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { defaultSwitches } from '../../src/emulator/switches.ts'
import type { Channel, Gift, Visitor } from '../../src/emulator/world/world.ts'
import { connectTo, listOf } from './emulated-client.ts'
import { emptyTables } from './empty-tables.ts'
import { startPipeline, type TestPipeline } from './start-pipeline.ts'

/** One channel with numbered visitors and gifts, the pipeline, and the loops that everybody writes first. */
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
  readonly addGifts: (count: number) => void
  readonly breakList: (endpoint: NonNullable<Fault['endpoint']>, effect: FaultEffect, fault?: Partial<Fault>) => void
  readonly jumpToFront: (userId: string) => void
  readonly readQuarantine: () => Promise<readonly { raw: string; reason: string; resolved_at: Date | null }[]>
  readonly visitorsOf: () => ListRequest
  readonly giftsOf: () => ListRequest
  /** Pages until one is short. A hundred pages are enough to see that it never ends. */
  readonly readNaively: (list: ListRequest) => Promise<readonly unknown[]>
  /** As many pages as the first total says. */
  readonly readByTotal: (list: ListRequest) => Promise<readonly unknown[]>
}

export async function startNumberedLists(): Promise<NumberedLists> {
  const pipeline = await startPipeline({ channels: 1, days: 1 })
  const { emulator, database } = pipeline
  const connection = connectTo(emulator)
  const [channel] = emulator.world.channels.values()
  const [visitor] = channel?.visitors.rows ?? []
  const [gift] = channel?.gifts.rows ?? []
  if (!channel || !visitor || !gift) throw new Error('the world is empty')
  const fetchNumbered = async (list: ListRequest, page: number): ReturnType<FetchPage> =>
    await connection.fetchPage({ list, page, pageSize: 100 }, { signal: new AbortController().signal })

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
    addGifts: (count) => {
      const type = 'cash' as const
      channel.gifts.add(
        ...Array.from({ length: count }, (_, place) => ({ ...gift, type, givenAt: gift.givenAt - place * 60 })),
      )
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
    visitorsOf: () => listOf('visitors', { channel: channel.id }),
    giftsOf: () => listOf('gifts', { channel: channel.id, type: 'cash' }),
    readNaively: async (list) => {
      const rows: unknown[] = []
      for (let page = 1; page <= 100; page++) {
        const { items } = await fetchNumbered(list, page)
        rows.push(...items)
        if (items.length < 100) break
      }
      return rows
    },
    readByTotal: async (list) => {
      const { items, total = 0 } = await fetchNumbered(list, 1)
      const rows = [...items]
      for (let page = 2; page <= Math.ceil(total / 100); page++) rows.push(...(await fetchNumbered(list, page)).items)
      return rows
    },
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]()
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

export function userIdsOf(rows: readonly unknown[]): ReadonlySet<unknown> {
  return new Set(rows.map((row) => Object(row).user_id))
}

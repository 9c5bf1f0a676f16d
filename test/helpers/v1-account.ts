import { formatWallDate, parseWallTime, wallTimeAt } from '../../src/core/wall-clock.ts'
import { createWorld } from '../../src/emulator/world/create-world.ts'
import type { WatchRecord } from '../../src/emulator/world/world.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { first } from './first-rows.ts'
import { startAccount } from './start-account.ts'

const TIME_ZONE = 'Asia/Shanghai'
/** A backfill of the autumn of 2018 from version 1. */
export const V1_BACKFILL = ['--from', '2018-09-01', '--to', '2018-12-01', '--streams', 'watch_records_v1'] as const

/** Starts an account with two channels and records of 2018. A test starts each day of its service. */
export async function startV1Account() {
  const endsAt = wallTimeAt(FIXED_NOW, TIME_ZONE)
  const world = createWorld({ seed: 1, channels: 2, viewers: 5, days: 1, endsAt, timeZone: TIME_ZONE })
  const account = await startAccount({ world })
  const callsOn46 = () => account.emulator.calls.filter(({ endpoint }) => endpoint === 'userRecords')
  const nextDay = () => account.clock.passHours(24)
  return Object.assign(account, {
    nextDay,
    /** Acts on each of `days` days; afterwards the next day has begun. @returns the results */
    eachDay: async <T>(days: number, act: (day: number) => Promise<T>): Promise<readonly T[]> => {
      const results: T[] = []
      for (let day = 1; day <= days; day++) {
        results.push(await act(day))
        nextDay()
      }
      return results
    },
    /** Acts day after day until nothing waits, for `days` days at most. @returns the result of the last day */
    untilDone: async <T extends { readonly code?: number }>(act: () => Promise<T>, days = 30): Promise<T> => {
      for (let day = 1; ; day++) {
        const result = await act()
        if (result.code !== 4 || day === days) return result
        nextDay()
      }
    },
    /** Gives each channel exactly this many old records. */
    setRecords: (...counts: readonly number[]) => {
      for (const [place, { oldRecords }] of [...world.channels.values()].entries()) {
        const template = first(oldRecords.rows)
        for (const row of oldRecords.rows.slice()) oldRecords.remove(row)
        oldRecords.add(...oldRows(template, place, counts[place] ?? 0))
      }
    },
    callsOn46,
    /** The pages of API 4.6 that were requested of a channel, by default the first one. */
    pagesOf: (channelId = first(account.emulator.channelIds)) =>
      callsOn46().flatMap((call) => (call.channelId === channelId ? [call.page] : [])),
    /** How many calls of API 4.6 the service saw on each of its days. */
    callsByDay: () => {
      const days = Map.groupBy(callsOn46(), ({ at }) => formatWallDate(wallTimeAt(at, TIME_ZONE)))
      return [...days.values()].map(({ length }) => length)
    },
  })
}

function oldRows(template: WatchRecord, place: number, count: number): readonly WatchRecord[] {
  const start = parseWallTime('2018-10-01') ?? 0
  return Array.from({ length: count }, (_, index) => ({
    ...template,
    recordId: String(1_000_000 * (place + 1) + index),
    userId: `u${index}`,
    phone: index % 300 === 7 ? '13800000000' : '',
    enteredAt: start + index * 600,
    leftAt: start + index * 600 + 300,
  }))
}

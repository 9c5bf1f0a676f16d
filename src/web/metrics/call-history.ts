import { formatWallTime, wallTimeAt } from '../../core/wall-clock.ts'
import type { Clock } from '../../core/clock.ts'

/** The calls that this process made within one hour. */
export interface CallHour {
  /** `HH:00` of the service's wall clock. */
  readonly hour: string
  readonly answered: number
  /** 429, and what stands for it. */
  readonly refused: number
  readonly failed: number
}

/** Remembers the calls of the last day by the hour. */
export interface CallHistory {
  readonly add: (outcome: string) => void
  /** Oldest first; none before the first call. */
  readonly hours: (timeZone: string) => readonly CallHour[]
}

const HOURS = 24
const HOUR_MS = 3_600_000

export function createCallHistory(clock: Clock): CallHistory {
  const counts = new Map<number, { answered: number; refused: number; failed: number }>()
  const currentHour = (): number => Math.floor(clock.now() / HOUR_MS)
  return {
    add: (outcome) => {
      const hour = currentHour()
      const count = counts.get(hour) ?? { answered: 0, refused: 0, failed: 0 }
      counts.set(hour, count)
      if (outcome === 'ok') count.answered++
      else if (outcome === 'api.rateLimited') count.refused++
      else count.failed++
      for (const old of counts.keys()) if (old <= hour - HOURS) counts.delete(old)
    },
    hours: (timeZone) => {
      if (counts.size === 0) return []
      const last = currentHour()
      return Array.from({ length: HOURS }, (_, index) => {
        const hour = last - (HOURS - 1 - index)
        const { answered = 0, refused = 0, failed = 0 } = counts.get(hour) ?? {}
        const time = formatWallTime(wallTimeAt(hour * HOUR_MS, timeZone)).slice(11, 16)
        return { hour: time, answered, refused, failed }
      })
    },
  }
}

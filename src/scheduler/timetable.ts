import { DAY, openWallClock, type WallTime } from '../core/wall-clock.ts'
import { parseCron } from './cron.ts'

/** A time at which a job is due, by the wall clock of its zone. */
export interface Tick {
  readonly localTime: WallTime
  /** Whether it is the second time that the clock shows it, when clocks are put back. */
  readonly isRepeat: boolean
  readonly dueAtMs: number
}

/**
 * When a job is due. Changes of the clock leave no tick out and make none twice: a time of the day that the clock jumps over is
 * due when it has jumped, one that it shows twice is due the first time. Only what is due in every hour is due in a repeated
 * hour again.
 */
export interface Timetable {
  /** The first tick later than an instant; undefined where there is none. */
  readonly next: (afterMs: number) => Tick | undefined
  /** The last tick later than one instant and no later than another. */
  readonly last: (afterMs: number, untilMs: number) => Tick | undefined
}

/** Longer than any offset from UTC, and than any change of one (Samoa left out a day). */
const MOST_SHIFT_MS = (DAY + 2 * 3600) * 1000

/** @param cron without a problem (`findCronProblem`) @param timeZone one that the runtime knows */
export function openTimetable(cron: string, timeZone: string): Timetable {
  const schedule = parseCron(cron)
  const wallTimeAt = openWallClock(timeZone)
  const offsetAt = (instantMs: number) => wallTimeAt(instantMs) - Math.floor(instantMs / 1000)

  /** By how many seconds the clock changes around an instant. */
  const shiftAround = (instantMs: number): number => {
    const offsets = [-MOST_SHIFT_MS, 0, MOST_SHIFT_MS].map((shift) => offsetAt(instantMs + shift))
    return Math.max(...offsets) - Math.min(...offsets)
  }
  /** When the clock shows a time: once, twice, or, where it jumps over it, the instant at which it has jumped. */
  const instantsOf = (localTime: WallTime): readonly number[] => {
    const around = [-MOST_SHIFT_MS, MOST_SHIFT_MS].map((shift) => offsetAt(localTime * 1000 + shift))
    const candidates = [...new Set(around)].map((offset) => (localTime - offset) * 1000).sort((a, b) => a - b)
    const shown = candidates.filter((instant) => wallTimeAt(instant) === localTime)
    if (shown.length > 0) return shown
    let [before = 0, after = 0] = candidates
    while (after - before > 1000) {
      const middle = Math.floor((before + after) / 2000) * 1000
      if (wallTimeAt(middle) < localTime) before = middle
      else after = middle
    }
    return [after]
  }
  const next = (afterMs: number): Tick | undefined => {
    let repeated: Tick | undefined
    let localTime = schedule.next(wallTimeAt(afterMs) - shiftAround(afterMs) - 1)
    for (; localTime !== undefined; localTime = schedule.next(localTime)) {
      const [firstMs = 0, againMs] = instantsOf(localTime)
      if (schedule.isHourly && againMs !== undefined && againMs > afterMs) {
        repeated ??= { localTime, isRepeat: true, dueAtMs: againMs }
      }
      if (firstMs <= afterMs) continue
      return repeated && repeated.dueAtMs < firstMs ? repeated : { localTime, isRepeat: false, dueAtMs: firstMs }
    }
    return repeated
  }
  const last = (afterMs: number, untilMs: number): Tick | undefined => {
    // What is due often is found in the last hour, and what is due seldom is quickly gone through.
    for (let hours = 1; ; hours *= 8) {
      const startMs = Math.max(afterMs, untilMs - hours * 3_600_000)
      let found: Tick | undefined
      for (let tick = next(startMs); tick && tick.dueAtMs <= untilMs; tick = next(tick.dueAtMs)) found = tick
      if (found !== undefined || startMs <= afterMs) return found
    }
  }
  return { next, last }
}

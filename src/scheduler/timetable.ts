import { DAY, wallTimeAt, type WallTime, MINUTE } from '../core/wall-clock.ts'
import assert from 'node:assert/strict'
import { createTask, validateDetailed } from 'node-cron'

/** A time at which a job is due, by the wall clock of its zone. */
export interface Tick {
  readonly localTime: WallTime
  /** Whether it is the second time that the clock shows it, when clocks are put back. */
  readonly isRepeat: boolean
  readonly dueAtMs: number
}

/** Longer than any offset from UTC, and than any change of one (Samoa left out a day). */
const MOST_SHIFT_MS = (DAY + 2 * 3600) * 1000

/**
 * When a job is due. Where clocks change, no tick is lost or doubled: a time of day that the clock jumps over is due
 * at the jump, one that it shows twice is due the first time. Only a job that is due in every hour is due again in a
 * repeated hour.
 * @param cron without a problem (`findCronProblem`) @param timeZone one that the runtime knows
 */
export function openTimetable(cron: string, timeZone: string) {
  const schedule = parseCron(cron)
  const clock = (instantMs: number) => wallTimeAt(instantMs, timeZone)
  const offsetAt = (instantMs: number) => clock(instantMs) - Math.floor(instantMs / 1000)

  /** By how many seconds the clock changes around an instant. */
  const shiftAround = (instantMs: number): number => {
    const offsets = [-MOST_SHIFT_MS, 0, MOST_SHIFT_MS].map((shift) => offsetAt(instantMs + shift))
    return Math.max(...offsets) - Math.min(...offsets)
  }
  /** When the clock shows a time: once, twice, or, where it jumps over it, the instant at which it has jumped. */
  const instantsOf = (localTime: WallTime): readonly number[] => {
    const around = [-MOST_SHIFT_MS, MOST_SHIFT_MS].map((shift) => offsetAt(localTime * 1000 + shift))
    const candidates = [...new Set(around)].map((offset) => (localTime - offset) * 1000).sort((a, b) => a - b)
    const shown = candidates.filter((instant) => clock(instant) === localTime)
    if (shown.length > 0) return shown
    let [before = 0, after = 0] = candidates
    while (after - before > 1000) {
      const middle = Math.floor((before + after) / 2000) * 1000
      if (clock(middle) < localTime) before = middle
      else after = middle
    }
    return [after]
  }
  const next = (afterMs: number): Tick | undefined => {
    let repeated: Tick | undefined
    let localTime = schedule.next(clock(afterMs) - shiftAround(afterMs) - 1)
    for (; localTime !== undefined; localTime = schedule.next(localTime)) {
      const [firstMs = 0, againMs] = instantsOf(localTime)
      if (schedule.isHourly && againMs !== undefined && againMs > afterMs)
        repeated ??= { localTime, isRepeat: true, dueAtMs: againMs }
      if (firstMs <= afterMs) continue
      return repeated && repeated.dueAtMs < firstMs ? repeated : { localTime, isRepeat: false, dueAtMs: firstMs }
    }
    return repeated
  }
  const last = (afterMs: number, untilMs: number): Tick | undefined => {
    // A job that is often due is found in the last hour; one that is seldom due has few ticks in a long time.
    for (let hours = 1; ; hours *= 8) {
      const startMs = Math.max(afterMs, untilMs - hours * 3_600_000)
      let found: Tick | undefined
      for (let tick = next(startMs); tick && tick.dueAtMs <= untilMs; tick = next(tick.dueAtMs)) found = tick
      if (found !== undefined || startMs <= afterMs) return found
    }
  }
  return { next, last }
}

/** The days of February 29 that are also a certain weekday lie up to 40 years apart. */
const FARTHEST_DAYS = 366 * 40

const fieldNames: Readonly<Record<string, string>> = {
  minute: 'minute',
  hour: 'hour',
  dayOfMonth: 'day of month',
  month: 'month',
  dayOfWeek: 'day of week',
}

/** What is wrong with a cron expression of five fields, as the end of a message; undefined for one that is right. */
export function findCronProblem(text: string): string | undefined {
  const { valid, errors } = validateDetailed(text)
  const fields = text.trim().split(/\s+/)
  if (!text.trim().startsWith('@') && fields.length !== 5) return `it has ${fields.length} fields instead of five`
  const error = errors.find(({ field }) => field in fieldNames)
  if (error !== undefined) return `its ${fieldNames[error.field]} ${JSON.stringify(error.value)} is not possible`
  if (!valid) return errors[0]?.message ?? 'it cannot be read'
  return parseCron(text).next(0) === undefined ? 'it is never due' : undefined
}

/**
 * The times that a cron expression without a problem names, on a wall clock without gaps and repetitions. Day of month
 * and day of week both have to match.
 */
export function parseCron(text: string) {
  const { fields } = validateDetailed(text)
  assert(fields !== undefined, `cron expression ${text}`)
  const hours = fields.hour.toSorted((a, b) => a - b)
  const minutes = fields.minute.toSorted((a, b) => a - b)
  const times = hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * MINUTE))
  // Used only to match days, in UTC. It is never started; `destroy` takes it out of the library's registry.
  const task = createTask(text, () => {}, { timezone: 'UTC' })
  void task.destroy()
  const isDue = (day: number) => task.match(new Date((day * DAY + (times[0] ?? 0)) * 1000))
  return {
    /** Whether it names some minutes of every hour: an interval rather than times of the day. */
    isHourly: hours.length === 24,
    next: (after: WallTime): WallTime | undefined => {
      const today = Math.floor(after / DAY)
      for (let day = today; day <= today + FARTHEST_DAYS; day++) {
        const time = times.find((each) => day * DAY + each > after)
        if (time !== undefined && isDue(day)) return day * DAY + time
      }
      return undefined
    },
  }
}

import assert from 'node:assert/strict'
import { createTask, validateDetailed } from 'node-cron'
import { DAY, MINUTE, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/** A time at which a job is due, by the wall clock of its zone. */
export interface Tick {
  readonly localTime: WallTime
  /** Whether the clock shows this time for the second time, after it was put back. */
  readonly isRepeat: boolean
  readonly dueAtMs: number
}

/** Longer than any offset from UTC, and than any change of one (Samoa skipped a day). */
const MAX_SHIFT_MS = (DAY + 2 * 3600) * 1000

/**
 * When a job is due. A change of the clock neither loses nor doubles a tick: a time that the clock skips is due when it
 * jumps, and a time that it shows twice is due the first time. Only a job that is due in every hour is due again in a
 * repeated hour.
 * @param cron a valid expression (`findCronProblem`) @param timeZone a zone that the runtime knows
 */
export function openTimetable(cron: string, timeZone: string) {
  const schedule = parseCron(cron)
  const clock = (instantMs: number) => wallTimeAt(instantMs, timeZone)
  const offsetAt = (instantMs: number) => clock(instantMs) - Math.floor(instantMs / 1000)

  /** By how many seconds the clock changes around an instant. */
  const shiftAround = (instantMs: number): number => {
    const offsets = [-MAX_SHIFT_MS, 0, MAX_SHIFT_MS].map((shift) => offsetAt(instantMs + shift))
    return Math.max(...offsets) - Math.min(...offsets)
  }
  /** When the clock shows a time: one or two instants or, if the clock skips the time, the instant after the jump. */
  const instantsOf = (localTime: WallTime): readonly number[] => {
    const around = [-MAX_SHIFT_MS, MAX_SHIFT_MS].map((shift) => offsetAt(localTime * 1000 + shift))
    const candidates = [...new Set(around)].map((offset) => (localTime - offset) * 1000).sort((a, b) => a - b)
    const exact = candidates.filter((instant) => clock(instant) === localTime)
    if (exact.length > 0) return exact
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
    // Search ever longer spans: a frequent job has a tick in the last hour, a rare one has few to step over.
    for (let hours = 1; ; hours *= 8) {
      const startMs = Math.max(afterMs, untilMs - hours * 3_600_000)
      let found: Tick | undefined
      for (let tick = next(startMs); tick && tick.dueAtMs <= untilMs; tick = next(tick.dueAtMs)) found = tick
      if (found !== undefined || startMs <= afterMs) return found
    }
  }
  return { next, last }
}

/** February 29 falls on the same weekday again after at most 40 years. */
const FARTHEST_DAYS = 366 * 40

const fieldNames: Readonly<Record<string, string>> = {
  minute: 'minute',
  hour: 'hour',
  dayOfMonth: 'day of month',
  month: 'month',
  dayOfWeek: 'day of week',
}

/** What is wrong with a cron expression of five fields, as the end of a message; undefined if it is valid. */
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
 * The times that a valid cron expression names, on a wall clock without gaps and repetitions. Both the day of the month
 * and the day of the week have to match.
 */
export function parseCron(text: string) {
  const { fields } = validateDetailed(text)
  assert(fields !== undefined, `cron expression ${text}`)
  const hours = fields.hour.toSorted((a, b) => a - b)
  const minutes = fields.minute.toSorted((a, b) => a - b)
  const times = hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * MINUTE))
  // Used only to match days, in UTC. It is never started; `destroy` removes it from the library's registry.
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

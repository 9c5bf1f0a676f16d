import assert from 'node:assert/strict'
import { createTask, validateDetailed } from 'node-cron'
import { DAY, MINUTE, type WallTime } from '../core/wall-clock.ts'

/** The times that a cron expression names, on a wall clock without gaps and repetitions. */
export interface Schedule {
  /** Whether it names some minutes of every hour: an interval rather than times of the day. */
  readonly isHourly: boolean
  /** The first time later than this one; undefined where there is none. */
  readonly next: (after: WallTime) => WallTime | undefined
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

/** What is wrong with a cron expression, the end of a sentence; undefined for one that is right. Five fields: no seconds. */
export function findCronProblem(text: string): string | undefined {
  const { valid, errors } = validateDetailed(text)
  const fields = text.trim().split(/\s+/)
  if (!text.trim().startsWith('@') && fields.length !== 5) return `it has ${fields.length} fields instead of five`
  const error = errors.find(({ field }) => field in fieldNames)
  if (error !== undefined) return `its ${fieldNames[error.field]} ${JSON.stringify(error.value)} is not possible`
  if (!valid) return errors[0]?.message ?? 'it cannot be read'
  return parseCron(text).next(0) === undefined ? 'it is never due' : undefined
}

/** Reads a cron expression that has no problem. Day of month and day of week both have to fit. */
export function parseCron(text: string): Schedule {
  const { fields } = validateDetailed(text)
  assert(fields !== undefined, `cron expression ${text}`)
  const hours = fields.hour.toSorted((a, b) => a - b)
  const minutes = fields.minute.toSorted((a, b) => a - b)
  const times = hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * MINUTE))
  // Only asked whether a day fits, as if its clock were UTC. It is never started, and forgotten by the library at once.
  const task = createTask(text, () => {}, { timezone: 'UTC' })
  void task.destroy()
  const isDue = (day: number) => task.match(new Date((day * DAY + (times[0] ?? 0)) * 1000))
  return {
    isHourly: hours.length === 24,
    next: (after) => {
      const today = Math.floor(after / DAY)
      for (let day = today; day <= today + FARTHEST_DAYS; day++) {
        const time = times.find((each) => day * DAY + each > after)
        if (time !== undefined && isDue(day)) return day * DAY + time
      }
      return undefined
    },
  }
}

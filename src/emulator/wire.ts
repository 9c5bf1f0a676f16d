import { DAY, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/** An id that the spec calls an integer: exact also beyond 2^53. */
export function wireInteger(digits: string): number | object {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(digits)
}

/** `HH:MM:SS`, with as many digits as the hours need. */
export function wireDuration(seconds: number): string {
  return `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`
}

/** `YYYY-MM-DD HH:MM:SS`. */
export function wireSecond(time: WallTime): string {
  return `${wireMinute(time)}:${twoDigits(time % 60)}`
}

/** `YYYY-MM-DD HH:MM`, the precision of watch records. */
export function wireMinute(time: WallTime): string {
  const minute = Math.floor(time / 60)
  return `${wireDate(Math.floor(time / DAY))} ${twoDigits(Math.floor(minute / 60) % 24)}:${twoDigits(minute % 60)}`
}

/**
 * The civil date of a day since 1970-01-01, in years that begin in March and eras of 400 years (Hinnant, "chrono-compatible
 * low-level date algorithms"): pages hold two times a row, and a `Date` for each would be most of a row's cost.
 */
function wireDate(day: number): string {
  const fromEpoch = day + 719_468
  const era = Math.floor(fromEpoch / 146_097)
  const dayOfEra = fromEpoch - era * 146_097
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  return `${year}-${twoDigits(month)}-${twoDigits(dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1)}`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

/**
 * Turns readings of a zone's wall clock into instants, in seconds since 1970, by the rules of Postgres: of two instants with
 * one reading the later one (standard time), and a reading that daylight saving skips counts with the offset before it.
 */
export function createInstantReader(timeZone: string): (wallTime: WallTime) => number {
  const offsets = new Map<number, readonly [number, number]>()
  const offsetAt = (instant: number) => wallTimeAt(instant * 1000, timeZone) - instant
  const offsetsAround = (day: number): readonly [number, number] => {
    const known = offsets.get(day)
    if (known) return known
    const around = [offsetAt((day - 1) * DAY), offsetAt((day + 2) * DAY)] as const
    offsets.set(day, around)
    return around
  }
  return (wallTime) => {
    const [before, after] = offsetsAround(Math.floor(wallTime / DAY))
    if (before === after) return wallTime - before
    return wallTimeAt((wallTime - after) * 1000, timeZone) === wallTime ? wallTime - after : wallTime - before
  }
}

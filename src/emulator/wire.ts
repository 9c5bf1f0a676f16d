import { DAY, formatWallTime, offsetAt, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/** An id that the spec calls an integer: exact also beyond 2^53. */
export function wireInteger(digits: string): number | object {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(digits)
}

/** `HH:MM:SS`, with as many digits as the hours need. */
export function wireDuration(seconds: number): string {
  return `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`
}

/** `YYYY-MM-DD HH:MM`, the precision of watch records. */
export function wireMinute(time: WallTime): string {
  return formatWallTime(time).slice(0, 16)
}

/** RFC 3339 with the zone's offset: `2026-11-20T14:03:00+08:00`. */
export function wireOffset(time: WallTime, timeZone: string): string {
  const instant = createInstantReader(timeZone)(time)
  return `${formatWallTime(time).replace(' ', 'T')}${offsetAt(instant * 1000, timeZone)}`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

/**
 * Turns readings of a zone's wall clock into instants, in seconds since 1970, by the rules of Postgres: of two instants
 * with one reading the later one (standard time), and a reading that daylight saving skips counts with the offset
 * before it.
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

import { DAY, formatWallTime, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/** An id as a JSON number, exact even beyond 2^53. */
export function wireInteger(digits: string): number | object {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(digits)
}

/** `HH:MM:SS`, with as many digits as the hours need. */
export function wireDuration(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => (part < 10 ? `0${part}` : part)).join(':')
}

/** RFC 3339 with the zone's offset: `2026-11-20T14:03:00+08:00`. */
export function wireOffset(time: WallTime, timeZone: string): string {
  const ahead = time - createInstantReader(timeZone)(time)
  const [sign, offset] = [ahead < 0 ? '-' : '+', formatWallTime(Math.abs(ahead)).slice(11, 16)]
  return `${formatWallTime(time).replace(' ', 'T')}${sign}${offset}`
}

/**
 * Converts wall-clock times of a zone to instants, in seconds since 1970, as Postgres does: a time that occurs twice is
 * the later instant (standard time), and a time that daylight saving skips has the offset from before the change.
 */
export function createInstantReader(timeZone: string): (wallTime: WallTime) => number {
  const clock = (instantMs: number) => wallTimeAt(instantMs, timeZone)
  const offsets = new Map<number, number>()
  const offsetOn = (day: number): number => {
    const offset = offsets.get(day) ?? clock(day * DAY * 1000) - day * DAY
    offsets.set(day, offset)
    return offset
  }
  return (wallTime) => {
    const day = Math.floor(wallTime / DAY)
    const [before, after] = [offsetOn(day - 1), offsetOn(day + 2)]
    const isAfter = before !== after && clock((wallTime - after) * 1000) === wallTime
    return wallTime - (isAfter ? after : before)
  }
}

/**
 * A reading of the service's wall clock (its answers and filters carry no offset): seconds since 1970-01-01 00:00:00 on
 * that clock, as if it were UTC. Only Postgres turns it into an instant, so that daylight saving is right in any zone.
 */
export type WallTime = number

export const MINUTE = 60
export const DAY = 86_400

/** `2026-11-20 14:03:00`, the form of request times (API 2). */
export function formatWallTime(wallTime: WallTime): string {
  return new Date(wallTime * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

/** `2026-11-20`: the service's day that holds this reading. */
export function formatWallDate(wallTime: WallTime): string {
  return new Date(wallTime * 1000).toISOString().slice(0, 10)
}

/** `2026-11-20`, or `2026-11-20 14:03` where it is not midnight: a bound in whole minutes, for a person. */
export function formatWallMinute(wallTime: WallTime): string {
  return formatWallTime(wallTime).slice(0, wallTime % DAY === 0 ? 10 : 16)
}

const WALL_TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2}))?)?$/

/**
 * Reads `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS` (also with a `T`); undefined for anything else, for
 * dates that do not exist and for years before 1000.
 */
export function parseWallTime(text: string): WallTime | undefined {
  const parts = WALL_TIME.exec(text)
  if (!parts || !isReal(parts) || text < '1000') return undefined
  const [year, month, day, hour, minute, second] = numbersOf(parts)
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000
}

/** Whether the text has one of these forms and names a time that exists, from the year 1 on. */
export function isWallTime(text: string): boolean {
  const parts = WALL_TIME.exec(text)
  return parts !== null && isReal(parts)
}

function isReal(parts: RegExpExecArray): boolean {
  const [year, month, day, hour, minute, second] = numbersOf(parts)
  const isDate = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  return isDate && hour < 24 && minute < 60 && second < 60
}

function numbersOf(parts: RegExpExecArray): [number, number, number, number, number, number] {
  const [, year, month, day, hour = 0, minute = 0, second = 0] = parts
  return [Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second)]
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** The start of the minute that holds this reading. */
export function floorToMinute(wallTime: WallTime): WallTime {
  return Math.floor(wallTime / MINUTE) * MINUTE
}

/** The start of the first minute that does not begin before this reading. */
export function ceilToMinute(wallTime: WallTime): WallTime {
  return Math.ceil(wallTime / MINUTE) * MINUTE
}

/** What the wall clock of `timeZone` (an IANA name) shows at an instant, in whole seconds. */
export function wallTimeAt(instantMs: number, timeZone: string): WallTime {
  return openWallClock(timeZone)(instantMs)
}

/** The same for many instants of one zone: to know a zone takes longer than to ask it. */
export function openWallClock(timeZone: string): (instantMs: number) => WallTime {
  const formatter = formatterOf(timeZone)
  return (instantMs) => {
    const parts = Object.fromEntries(formatter.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]))
    return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute, parts.second) / 1000
  }
}

/** Whether the runtime knows this IANA zone. */
export function isTimeZone(name: string): boolean {
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
}

import assert from 'node:assert/strict'

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

/**
 * Reads `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS` (also with a `T`); undefined for anything else and for
 * dates that do not exist.
 */
export function parseWallTime(text: string): WallTime | undefined {
  const parts = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text)
  if (!parts) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1).map((part) => Number(part ?? 0))
  assert(year !== undefined && month !== undefined && day !== undefined)
  const time = Date.UTC(year, month - 1, day, hour, minute, second) / 1000
  const canonical = `${parts[1]}-${parts[2]}-${parts[3]} ${parts[4] ?? '00'}:${parts[5] ?? '00'}:${parts[6] ?? '00'}`
  return formatWallTime(time) === canonical ? time : undefined
}

/** The start of the minute that holds this reading. */
export function floorToMinute(wallTime: WallTime): WallTime {
  return Math.floor(wallTime / MINUTE) * MINUTE
}

/** What the wall clock of `timeZone` (an IANA name) shows at an instant, in whole seconds. */
export function wallTimeAt(instantMs: number, timeZone: string): WallTime {
  const parts = Object.fromEntries(
    formatterOf(timeZone)
      .formatToParts(instantMs)
      .map(({ type, value }) => [type, Number(value)]),
  )
  return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute, parts.second) / 1000
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

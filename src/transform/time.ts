import { unreadable } from '../core/column.ts'
import { isWallTime } from '../core/wall-clock.ts'

const ZERO_DATE = /^0000-00-00/
const TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/

/**
 * A point in time as Postgres reads it: `YYYY-MM-DD HH:MM:SS` on the service's wall clock, or with the offset that it
 * came with. Minute precision gets `:00`. Zero dates are none; dates that do not exist cannot be read.
 */
export function pointInTime(raw: unknown): string | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  if (typeof raw !== 'string') return unreadable
  // What nearly every value is.
  if (raw.length > 10 && raw[10] === ' ' && isWallTime(raw)) return raw.length === 19 ? raw : `${raw}:00`
  if (ZERO_DATE.test(raw)) return null
  const parts = TIME.exec(raw)
  if (!parts) return unreadable
  const wall = `${parts[1]} ${parts[2]}:${parts[3] ?? '00'}`
  return isWallTime(wall) ? withOffset(`${wall}${parts[4] ?? ''}`, parts[5]) : unreadable
}

/** A date of the service's calendar, `YYYY-MM-DD`; midnight may stand behind it, another time may not. */
export function calendarDate(raw: unknown): string | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  if (typeof raw !== 'string') return unreadable
  if (ZERO_DATE.test(raw)) return null
  const date = raw.replace(/[ T]00:00(?::00)?$/, '')
  return date.length === 10 && isWallTime(date) ? date : unreadable
}

function withOffset(wall: string, offset: string | undefined): string | typeof unreadable {
  if (offset === undefined) return wall
  if (offset === 'Z') return `${wall}+00:00`
  const digits = offset.replace(':', '')
  const [hours, minutes] = [Number(digits.slice(1, 3)), Number(digits.slice(3))]
  return hours <= 15 && minutes < 60 ? `${wall}${digits.slice(0, 3)}:${digits.slice(3)}` : unreadable
}

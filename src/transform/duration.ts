import { unreadable } from '../core/column.ts'
import { twoDigits } from '../core/wall-clock.ts'
import { integer } from './integer.ts'

const MAX_SECONDS = 2_147_483_647
const COLON = 58
const DURATION = /^(\d{1,7}):([0-5]\d):([0-5]\d)$/

/**
 * `HH:MM:SS` as whole seconds, also beyond 24 hours: `125:03:09` is 450189. A bare number is not guessed at: the service
 * counts seconds in some places and minutes in others.
 */
export function durationText(raw: unknown): number | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  if (typeof raw !== 'string') return unreadable
  const common = shortDuration(raw)
  if (common >= 0) return common
  const parts = DURATION.exec(raw)
  if (!parts) return unreadable
  const seconds = Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3])
  return seconds <= MAX_SECONDS ? seconds : unreadable
}

/** The form that nearly every value has, `HH:MM:SS` of eight characters, without a regular expression; -1 for any other. */
function shortDuration(raw: string): number {
  if (raw.length !== 8 || raw.charCodeAt(2) !== COLON || raw.charCodeAt(5) !== COLON) return -1
  const hours = twoDigits(raw, 0)
  const minutes = twoDigits(raw, 3)
  const seconds = twoDigits(raw, 6)
  return hours < 0 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59
    ? -1
    : hours * 3600 + minutes * 60 + seconds
}

/** A count of seconds; `HH:MM:SS` too, since the same field comes in both forms (`online_time`, API 2.4 and 2.5). Never negative. */
export function durationSeconds(raw: unknown): number | null | typeof unreadable {
  const seconds = typeof raw === 'string' && raw.includes(':') ? durationText(raw) : integer(raw)
  return typeof seconds === 'number' && seconds < 0 ? unreadable : seconds
}

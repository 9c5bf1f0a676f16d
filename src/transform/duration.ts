import { unreadable } from '../core/column.ts'
import { integer } from './integer.ts'

const MAX_SECONDS = 2_147_483_647
const DURATION = /^(\d{1,7}):([0-5]\d):([0-5]\d)$/

/**
 * `HH:MM:SS` as whole seconds, also beyond 24 hours: `125:03:09` is 450189. A bare number is not guessed at: the
 * service counts seconds in some places and minutes in others.
 */
export function durationText(raw: unknown): number | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  if (typeof raw !== 'string') return unreadable
  const parts = DURATION.exec(raw)
  if (!parts) return unreadable
  const seconds = Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3])
  return seconds <= MAX_SECONDS ? seconds : unreadable
}

/** A count of seconds, also as `HH:MM:SS` (`online_time` comes in both forms, API 2.4 and 2.5). Never negative. */
export function durationSeconds(raw: unknown): number | null | typeof unreadable {
  const seconds = typeof raw === 'string' && raw.includes(':') ? durationText(raw) : integer(raw)
  return typeof seconds === 'number' && seconds < 0 ? unreadable : seconds
}

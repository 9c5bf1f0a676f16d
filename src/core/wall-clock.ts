/**
 * A reading of the service's wall clock (its answers and filters have no offset): seconds since 1970-01-01 00:00:00 on
 * that clock, as if it were UTC. Postgres converts those of rows to instants, and the timetable those of jobs.
 */
export type WallTime = number

export const MINUTE = 60
export const HOUR = 3600
export const DAY = 86_400

/** Formats a time for a request (API 2): `2026-11-20 14:03:00`. */
export function formatWallTime(wallTime: WallTime): string {
  return new Date(wallTime * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

/** Formats the service's day of a time: `2026-11-20`. */
export function formatWallDate(wallTime: WallTime): string {
  return new Date(wallTime * 1000).toISOString().slice(0, 10)
}

/** Formats a bound for people: `2026-11-20 14:03`, or `2026-11-20` at midnight. */
export function formatWallMinute(wallTime: WallTime): string {
  return formatWallTime(wallTime).slice(0, wallTime % DAY === 0 ? 10 : 16)
}

/**
 * Parses `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS` (or with a `T`). Undefined for anything else, for
 * dates that do not exist and for years before 1000.
 */
export function parseWallTime(text: string): WallTime | undefined {
  return text >= '1000' && isWallTime(text) ? instantOf(text) : undefined
}

const DAY_OF_YEAR =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-9]))'
const FORM = new RegExp(`^\\d{4}-${DAY_OF_YEAR}(?:[ T](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d)?)?$`)

/** Whether the text has one of these forms and is an existing time from the year 1 on. */
export function isWallTime(text: string): boolean {
  if (!FORM.test(text) || text < '0001') return false
  // `Date` takes 29 February for a day in March unless the year is a leap year.
  return !text.startsWith('02-29', 5) || formatWallDate(instantOf(text)) === text.slice(0, 10)
}

/** Rewrites the text to ECMAScript's form, which requires a `T`. A date alone is midnight. */
function instantOf(text: string): WallTime {
  return Date.parse(text.length === 10 ? text : `${text.replace(' ', 'T')}Z`) / 1000
}

/** Expresses a duration in its largest whole unit, for people. */
export function largestUnitOf(ms: number): readonly [count: number, unit: 'second' | 'minute' | 'hour' | 'day'] {
  const seconds = ms / 1000
  if (seconds < MINUTE) return [Math.max(0, Math.round(seconds)), 'second']
  if (seconds < HOUR) return [Math.floor(seconds / MINUTE), 'minute']
  return seconds < 3 * DAY ? [Math.floor(seconds / HOUR), 'hour'] : [Math.floor(seconds / DAY), 'day']
}

/** The midnight at the start of this day. */
export function floorToDay(wallTime: WallTime): WallTime {
  return Math.floor(wallTime / DAY) * DAY
}

/** The start of the minute that holds this reading. */
export function floorToMinute(wallTime: WallTime): WallTime {
  return Math.floor(wallTime / MINUTE) * MINUTE
}

/** One formatter for each time zone, because creating one takes longer than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>()

/** What the wall clock of `timeZone` (an IANA name) shows at an instant, in whole seconds. */
export function wallTimeAt(instantMs: number, timeZone: string): WallTime {
  const formatter = formatters.get(timeZone) ?? formatterOf(timeZone)
  formatters.set(timeZone, formatter)
  const parts = Object.fromEntries(formatter.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute, parts.second) / 1000
}

/**
 * Whether the runtime knows this IANA time zone, and Postgres reads it alike. Postgres reverses the sign of `+08:00`
 * (POSIX), and takes most three-letter names, such as `CET`, for abbreviations without summer time, or rejects them.
 */
export function isTimeZone(name: string): boolean {
  if (!/^(?!...$)[A-Z]|^(UTC|UCT|GMT|PRC|ROC|ROK|EST|MST|HST)$/i.test(name)) return false
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

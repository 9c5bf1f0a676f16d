import type { Cell, Row } from '../core/column.ts'
import { LivehouseError } from '../core/errors.ts'
import { formatWindow, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { floorToMinute, MINUTE, parseWallTime, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/** Where a time of a row stands on the service's wall clock; undefined for none. */
export function secondOf(time: Cell | undefined, timeZone: string): WallTime | undefined {
  if (typeof time !== 'string') return undefined
  const wall = parseWallTime(time.slice(0, 19))
  if (wall === undefined) return undefined
  const hasOffset = /[+-]\d{2}:\d{2}$/.test(time.slice(19))
  return hasOffset ? wallTimeAt(Date.parse(time.replace(' ', 'T')), timeZone) : wall
}

/** The same, cut to the minute: the service may give no seconds. */
export function minuteOf(time: Cell | undefined, timeZone: string): WallTime | undefined {
  const second = secondOf(time, timeZone)
  return second === undefined ? undefined : floorToMinute(second)
}

/**
 * In which minute an item (JSON text) lies that could not become a row; undefined where that cannot be read either.
 * Only of an object are the fields known by name: an array of cells has been refused as such.
 */
export function minuteOfItem(raw: string, { columns, timeColumns }: Stream, timeZone: string): WallTime | undefined {
  const fields: Readonly<Record<string, unknown>> = Object(JSON.parse(raw))
  for (const name of timeColumns) {
    const source = columns[name]?.source
    const value = source?.kind === 'field' ? source.parse(fields[source.field]) : undefined
    const minute = typeof value === 'string' ? minuteOf(value, timeZone) : undefined
    if (minute !== undefined) return minute
  }
  return undefined
}

/** Whether a row belongs to a half-open window by its time. */
export function isInWindow(time: Cell | undefined, { from, to }: Window, timeZone: string): boolean {
  const minute = minuteOf(time, timeZone)
  return minute !== undefined && minute >= from && minute < to
}

/**
 * Whether all times of a row that can be read lie in a window, its own among them. Such a row comes whichever of them
 * the service filters by.
 */
export function liesWithin(row: Row, timeColumns: readonly string[], window: Window, timeZone: string): boolean {
  const minutes = timeColumns.map((name) => minuteOf(row[name], timeZone))
  return (
    minutes[0] !== undefined &&
    minutes.every((minute) => minute === undefined || (minute >= window.from && minute < window.to))
  )
}

/**
 * Most rows of a page lie outside what was asked: then the service ignored the filter, and the page is no answer.
 * @throws LivehouseError `paging.ignored`
 */
export function requireFiltered(
  call: string,
  { timeColumns }: Stream,
  rows: readonly Row[],
  asked: Window,
  timeZone: string,
): void {
  const outside = rows.filter((row) => isOutside(row, timeColumns, asked, timeZone))
  if (outside.length * 2 <= rows.length) return
  const [first] = outside
  const times = timeColumns.map((name) => first?.[name]).join(' to ')
  const share = `${outside.length} of ${rows.length} rows`
  const evidence = `${share} lie outside ${formatWindow(asked)}, such as one of ${times}`
  throw new LivehouseError(
    'paging.ignored',
    `${call}: the service ignores the time filter: ${evidence}. ` +
      "Check LIVEHOUSE_TIMEZONE; if it is right, ask the service's support.",
    { call, parameter: 'time filter', evidence },
  )
}

/** From the earliest to the latest of its times, the row touches neither the window nor its ends. */
function isOutside(row: Row, timeColumns: readonly string[], { from, to }: Window, timeZone: string): boolean {
  const minutes = timeColumns.map((name) => minuteOf(row[name], timeZone)).filter((minute) => minute !== undefined)
  if (minutes.length === 0) return false
  return Math.max(...minutes) + MINUTE <= from || Math.min(...minutes) > to
}

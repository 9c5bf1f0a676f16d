import type { Cell, Row } from '../core/column.ts'
import { LivehouseError } from '../core/errors.ts'
import type { ListRequest } from '../core/page.ts'
import { describeList, formatWindow, isEmptyWindow, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, floorToDay, floorToMinute, MINUTE, parseWallTime, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/** A minute is requested only this long after it began: before that, the service may not show its rows. */
const NEWEST_SECONDS = 2
/** The service may not show all rows younger than this. Such rows land, but are not covered until a later reading. */
const CLAIM_DELAY_SECONDS = 300

/** Up to when a run reads: to the end of the current minute. */
export function readableUntil(now: WallTime): WallTime {
  return Math.ceil((now - NEWEST_SECONDS) / MINUTE) * MINUTE
}

/** Up to when the rows that a run reads count as covered. */
export function claimableUntil(now: WallTime): WallTime {
  return floorToMinute(now - CLAIM_DELAY_SECONDS)
}

/** The part of a window before `end`; undefined if it is empty. */
export function partUntil({ from, to }: Window, end: WallTime): Window | undefined {
  const part = { from, to: Math.min(to, end) }
  return isEmptyWindow(part) ? undefined : part
}

/** Ends the range of a list at `latest`: some services refuse a range that ends in the future, or return nothing. */
export function listUntil(list: ListRequest, latest: WallTime): ListRequest {
  const { window } = list
  return window && window.to > latest ? { ...list, window: { ...window, to: Math.max(window.from, latest) } } : list
}

/** The start of the lookback; rows before it no longer change. */
export function lookbackStart(now: WallTime, lookbackDays: number): WallTime {
  return floorToMinute(now) - lookbackDays * DAY
}

/** A shorter range before the lookback is not worth a call of its own. */
const MIN_REST_DAYS = 30

/**
 * Cuts a window that is read over several days at the start of the lookback: if the list moves meanwhile, only the part
 * in which rows still change is read anew. Newest first.
 */
export function cutAtLookback(window: Window, { isBudgeted, lookbackDays }: Stream, now: WallTime): readonly Window[] {
  const at = lookbackStart(now, lookbackDays)
  if (!isBudgeted || at - window.from < MIN_REST_DAYS * DAY) return [window]
  return cutWindowAt(window, [at])
}

/** The distance of a part from a minute that its request must exclude: each request is a minute longer on each side. */
export const MARGIN = 2 * MINUTE
/** The requests for parts of a shorter window would return nearly the same rows. */
export const MIN_WINDOW = 2 * MARGIN

/** Cuts a window into equal parts of whole minutes, newest first; there are fewer if it has fewer minutes. */
export function cutWindow({ from, to }: Window, parts: number): readonly Window[] {
  const minutes = (to - from) / MINUTE
  const bounds = Array.from({ length: parts }, (_, index) => from + Math.round((minutes * index) / parts) * MINUTE)
  return cutWindowAt({ from, to }, bounds)
}

/** Cuts a window at these times, newest part first. Times outside of the window are ignored. */
export function cutWindowAt({ from, to }: Window, times: readonly WallTime[]): readonly Window[] {
  const within = times.filter((time) => time > from && time < to)
  const bounds = [...new Set([from, ...within, to])].sort((a, b) => a - b)
  return bounds
    .slice(1)
    .map((end, index) => ({ from: bounds[index] ?? from, to: end }))
    .toReversed()
}

/**
 * Chooses where to cut a window near a time: at a midnight if the window holds one. Some services filter by whole days,
 * or leave out the last day of a range; they serve parts of whole days correctly, too.
 */
export function cutTime({ from, to }: Window, near: WallTime, round: (days: number) => number = Math.round): WallTime {
  const [first, last] = [floorToDay(from) + DAY, Math.ceil(to / DAY) * DAY - DAY]
  if (first > last) return Math.max(from + MINUTE, Math.min(near, to - MINUTE))
  return Math.max(first, Math.min(round(near / DAY) * DAY, last))
}

/** Whether a window can be cut in two. One minute cannot, nor can a list without a time filter. */
export function mayBeHalved(window: Window | undefined): boolean {
  return window !== undefined && window.to - window.from > MINUTE
}

/** Whether a list is read a second time because it has no total. With few calls a day it is not. */
export function isReadTwice({ isCounted, isBudgeted }: Stream): boolean {
  return !isCounted && isBudgeted !== true
}

/** Whether rows belong to the day on which they are read, so that a reading on a later day does not repair them. */
export function isOfDay({ columns }: Stream): boolean {
  return Object.values(columns).some(({ source }) => source.kind === 'serviceDay')
}

/** A time of a row on the service's wall clock; undefined if it has none. */
export function secondOf(time: Cell | undefined, timeZone: string): WallTime | undefined {
  if (typeof time !== 'string') return undefined
  const hasOffset = /[+-]\d{2}:\d{2}$/.test(time.slice(19))
  return hasOffset ? wallTimeAt(Date.parse(time.replace(' ', 'T')), timeZone) : parseWallTime(time.slice(0, 19))
}

/** A time of a row, truncated to the minute because the service may leave out seconds. */
export function minuteOf(time: Cell | undefined, timeZone: string): WallTime | undefined {
  const second = secondOf(time, timeZone)
  return second === undefined ? undefined : floorToMinute(second)
}

/**
 * The minute of an item (JSON text) that could not become a row; undefined if its time cannot be read. An item that is
 * not an object has none.
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

/** The minutes of rows by their first time, without those of rows that have none. */
export function minutesOf(rows: readonly Row[], { timeColumns }: Stream, timeZone: string): readonly WallTime[] {
  return rows.flatMap((row) => minuteOf(row[timeColumns[0] ?? ''], timeZone) ?? [])
}

/** Whether a time lies in a window. */
export function isIn({ from, to }: Window, at: WallTime): boolean {
  return at >= from && at < to
}

/** Whether a row has its first time, and all its times lie in a window, so that filters by any of them return it. */
export function liesWithin(row: Row, timeColumns: readonly string[], window: Window, timeZone: string): boolean {
  const minutes = timeColumns.map((name) => minuteOf(row[name], timeZone))
  return minutes[0] !== undefined && minutes.every((minute) => minute === undefined || isIn(window, minute))
}

/**
 * The rows of a page that lie outside of the requested range, if most of them do; otherwise none.
 * @param isByDay whether the service filters by whole days
 */
export function straysOf(
  { window, stream }: ListRequest,
  rows: readonly Row[],
  timeZone: string,
  isByDay: boolean,
): readonly Row[] {
  if (window === undefined) return []
  const range = isByDay ? { from: floorToDay(window.from), to: floorToDay(window.to) + DAY } : window
  const outside = rows.filter((row) => isOutside(row, stream.timeColumns, range, timeZone))
  return outside.length * 2 <= rows.length ? [] : outside
}

/** The error for a page of `rows` rows of which most, `strays`, lie outside of the requested range. */
export function filterIgnored(list: ListRequest, strays: readonly Row[], rows: number) {
  const times = list.stream.timeColumns.map((name) => strays[0]?.[name]).join(' to ')
  const range = list.window ? formatWindow(list.window) : ''
  const evidence = `${strays.length} of ${rows} rows lie outside ${range}, such as one at ${times}`
  const repair = "Check LIVEHOUSE_TIMEZONE; if it is right, ask the service's support."
  const message = `${describeList(list)}: the service ignores the time filter: ${evidence}. ${repair}`
  return new LivehouseError('paging.ignored', message, {})
}

/** Whether a row, from its earliest to its latest time, lies outside of a window and does not touch its ends. */
function isOutside(row: Row, timeColumns: readonly string[], { from, to }: Window, timeZone: string): boolean {
  const minutes = timeColumns.map((name) => minuteOf(row[name], timeZone)).filter((minute) => minute !== undefined)
  if (minutes.length === 0) return false
  return Math.max(...minutes) + MINUTE <= from || Math.min(...minutes) > to
}

import type { Cell, Row } from '../core/column.ts'
import { LivehouseError } from '../core/errors.ts'
import type { ListRequest } from '../core/page.ts'
import { describeList, formatWindow, isEmptyWindow, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, floorToDay, floorToMinute, MINUTE, parseWallTime, type WallTime, wallTimeAt } from '../core/wall-clock.ts'

/** A minute that began less than this ago is not asked for: the service may not show its rows yet. */
const NEWEST_SECONDS = 2
/** The service may not show younger rows: these land, but count as covered only once they have been read again. */
export const CLAIM_DELAY_SECONDS = 300

/** How far a run reads, in whole minutes: to the end of the minute that has begun. */
export function newestAt(now: WallTime): WallTime {
  return Math.ceil((now - NEWEST_SECONDS) / MINUTE) * MINUTE
}

/** Until when the rows that a run reads count as covered. */
export function claimableUntil(now: WallTime): WallTime {
  return floorToMinute(now - CLAIM_DELAY_SECONDS)
}

/** The part of a window before `end`; undefined for none. */
export function partUntil({ from, to }: Window, end: WallTime): Window | undefined {
  const part = { from, to: Math.min(to, end) }
  return isEmptyWindow(part) ? undefined : part
}

/** A list whose range ends by then: some services refuse one that ends in the future, or give nothing of it. */
export function listUntil(list: ListRequest, latest: WallTime): ListRequest {
  const { window } = list
  return window && window.to > latest ? { ...list, window: { ...window, to: Math.max(window.from, latest) } } : list
}

/** Where the lookback begins: rows before it no longer change. */
export function lookbackStart(now: WallTime, lookbackDays: number): WallTime {
  return floorToMinute(now) - lookbackDays * DAY
}

/** A shorter range of settled rows is not worth a call of its own. */
const SHORTEST_REST_DAYS = 30

/**
 * The windows of the slices in which a window is read, newest first. One that is read over several days is cut where
 * the lookback begins: if the list moves meanwhile, only the part in which rows still change is read anew.
 */
export function cutAtLookback(window: Window, { isBudgeted, lookbackDays }: Stream, now: WallTime): readonly Window[] {
  const at = lookbackStart(now, lookbackDays)
  if (!isBudgeted || at - window.from < SHORTEST_REST_DAYS * DAY) return [window]
  return cutWindowAt(window, [at])
}

/** How far a part has to lie from a minute that its request must not include: each request asks for a minute more. */
export const GAP = 2 * MINUTE
/** Parts of a shorter window would ask for nearly the same rows. */
export const SHORTEST_WINDOW = 2 * GAP

/** Equal parts of whole minutes, newest first; fewer where there are not as many minutes. */
export function cutWindow({ from, to }: Window, parts: number): readonly Window[] {
  const minutes = (to - from) / MINUTE
  const bounds = Array.from({ length: parts }, (_, index) => from + Math.round((minutes * index) / parts) * MINUTE)
  return cutWindowAt({ from, to }, bounds)
}

/** The parts between these times, newest first; times outside of the window are left out. */
export function cutWindowAt({ from, to }: Window, times: readonly WallTime[]): readonly Window[] {
  const within = times.filter((time) => time > from && time < to)
  const bounds = [...new Set([from, ...within, to])].sort((a, b) => a - b)
  return bounds
    .slice(1)
    .map((end, index) => ({ from: bounds[index] ?? from, to: end }))
    .toReversed()
}

/**
 * Where to cut a window next to a time: at a midnight, where it has one. Some services go by the dates of a range, or
 * leave out its last day: parts of whole days are whole for them, too.
 */
export function cutTime({ from, to }: Window, near: WallTime, round: (days: number) => number = Math.round): WallTime {
  const [first, last] = [floorToDay(from) + DAY, Math.ceil(to / DAY) * DAY - DAY]
  if (first > last) return Math.max(from + MINUTE, Math.min(near, to - MINUTE))
  return Math.max(first, Math.min(round(near / DAY) * DAY, last))
}

/** Whether a window can be cut in two: one minute cannot, nor can a list without a time filter. */
export function mayBeHalved(window: Window | undefined): boolean {
  return window !== undefined && window.to - window.from > MINUTE
}

/** Whether a list tells no total, and so is read a second time. Few calls a day do not allow that. */
export function isReadTwice({ isCounted, isBudgeted }: Stream): boolean {
  return !isCounted && isBudgeted !== true
}

/** Whether rows belong to the day on which they were read: a later reading does not repair those of an earlier day. */
export function isOfDay({ columns }: Stream): boolean {
  return Object.values(columns).some(({ source }) => source.kind === 'serviceDay')
}

/** A time of a row by the service's wall clock; undefined for none. */
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
 * The minute of an item (JSON text) that could not become a row; undefined where that cannot be read either. Items that
 * are no objects have no fields.
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

/** The minutes of these rows that lie in a window. */
export function minutesWithin(
  { from, to }: Window,
  rows: readonly Row[],
  { timeColumns: [name = ''] }: Stream,
  timeZone: string,
): readonly WallTime[] {
  return rows.flatMap((row) => minuteOf(row[name], timeZone) ?? []).filter((at) => at >= from && at < to)
}

/** Whether a row has its first time, and all that it has lie in a window: then it comes, whichever is filtered by. */
export function liesWithin(row: Row, timeColumns: readonly string[], window: Window, timeZone: string): boolean {
  const minutes = timeColumns.map((name) => minuteOf(row[name], timeZone))
  return (
    minutes[0] !== undefined &&
    minutes.every((minute) => minute === undefined || (minute >= window.from && minute < window.to))
  )
}

/**
 * The rows of a page that lie outside of the range that was asked for, if most do: none of a page that was filtered.
 * @param isByDay whether the service goes by the days of its ends
 */
export function straysOf(
  { window, stream }: ListRequest,
  rows: readonly Row[],
  timeZone: string,
  isByDay: boolean,
): readonly Row[] {
  if (window === undefined) return []
  const asked = isByDay ? { from: floorToDay(window.from), to: floorToDay(window.to) + DAY } : window
  const outside = rows.filter((row) => isOutside(row, stream.timeColumns, asked, timeZone))
  return outside.length * 2 <= rows.length ? [] : outside
}

/** A page of so many rows, most of which lie outside of what was asked for: the service has ignored the filter. */
export function filterIgnored(list: ListRequest, strays: readonly Row[], rows: number) {
  const times = list.stream.timeColumns.map((name) => strays[0]?.[name]).join(' to ')
  const asked = list.window ? formatWindow(list.window) : ''
  const evidence = `${strays.length} of ${rows} rows lie outside ${asked}, such as one of ${times}`
  const repair = "Check LIVEHOUSE_TIMEZONE; if it is right, ask the service's support."
  const message = `${describeList(list)}: the service ignores the time filter: ${evidence}. ${repair}`
  return new LivehouseError('paging.ignored', message, {})
}

/** Whether a row, from its earliest to its latest time, touches neither the window nor its ends. */
function isOutside(row: Row, timeColumns: readonly string[], { from, to }: Window, timeZone: string): boolean {
  const minutes = timeColumns.map((name) => minuteOf(row[name], timeZone)).filter((minute) => minute !== undefined)
  if (minutes.length === 0) return false
  return Math.max(...minutes) + MINUTE <= from || Math.min(...minutes) > to
}

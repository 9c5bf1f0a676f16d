import type { Row } from '../../core/column.ts'
import { type Partition, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { DAY, MINUTE, type WallTime, wallTimeAt } from '../../core/wall-clock.ts'
import { readLastReading } from '../../ledger/slices.ts'
import type { DifferingRow } from '../../store/compare-rows.ts'
import { minuteOf } from '../row-window.ts'
import type { RunDeps } from '../slice-work.ts'
import type { Difference } from './partition-audit.ts'

/** What is read and compared, value by value. */
export interface ComparedRange {
  readonly stream: Stream
  readonly partition: Partition
  /** Undefined for a whole list. */
  readonly window: Window | undefined
  /** The column by which rows belong to the window; undefined where it is not known: then those of which every time lies in it. */
  readonly column: string | undefined
  /** Hashes of the items that are in quarantine. */
  readonly quarantined: ReadonlySet<string>
  /** The day of snapshots that belong to the day on which they were read. */
  readonly serviceDay?: string
  /** Of a list without times, how many rows its last reading had. */
  readonly knownRows?: number | undefined
}

export interface JudgedRows {
  readonly differences: readonly Difference[]
  readonly notes: readonly string[]
}

/** Keys that a difference names. */
export const MOST_KEYS = 20
/** Rows of which the values are named. */
const MOST_CHANGED = 20

/**
 * Tells rows that differ because something is wrong from those that differ because the source has moved on since they were read.
 * @param areMissingNew whether that is known of all that are missing
 */
export async function judgeRows(
  differing: readonly DifferingRow[],
  range: ComparedRange,
  { db, timeZone, clock }: Pick<RunDeps, 'db' | 'timeZone' | 'clock'>,
  areMissingNew = false,
): Promise<JudgedRows> {
  const { stream, partition, window } = range
  const minutes = differing.map(({ row }) =>
    window === undefined ? undefined : (minuteIn(row, range, timeZone) ?? window.from),
  )
  const readAt = await readLastReading(db, stream.name, partitionKey(partition), minutes)
  const now = { timeZone, nowMs: clock.now() }
  const real = differing.filter(
    (each, index) => !(areMissingNew && each.kind === 'missing') && !hasChangedSince(stream, each, readAt[index], now),
  )
  const since = differing.length - real.length
  const at = (rows: readonly DifferingRow[]) => hullOf(rows, range, timeZone) ?? window
  const missing = real.filter(({ kind }) => kind === 'missing')
  const keys = missing.slice(0, MOST_KEYS).map(({ key }) => key)
  const lacking = { kind: 'missing', rows: missing.length, keys, window: at(missing) } as const
  return {
    differences: [...(missing.length === 0 ? [] : [lacking]), ...changedOf(real, at)],
    notes: since === 0 ? [] : [`new or still changing since the last reading: ${since}`],
  }
}

function changedOf(
  real: readonly DifferingRow[],
  at: (rows: readonly DifferingRow[]) => Window | undefined,
): readonly Difference[] {
  const changed = real.filter(({ kind }) => kind === 'changed')
  const named = changed.slice(0, MOST_CHANGED)
  const rest = changed.slice(MOST_CHANGED)
  const all = named.map((each) => ({ kind: 'changed', key: each.key, cells: each.cells, window: at([each]) }) as const)
  if (rest.length === 0) return all
  const cells = [...new Set(rest.flatMap((each) => each.cells.map(({ column }) => column)))]
  const unnamed = cells.map((column) => ({ column, warehouse: null, source: null }))
  return [...all, { kind: 'changed', key: `${rest.length} more rows`, cells: unnamed, window: at(rest) }]
}

/** The minutes in which rows lie. */
function hullOf(rows: readonly DifferingRow[], range: ComparedRange, timeZone: string): Window | undefined {
  const minutes = rows.map(({ row }) => minuteIn(row, range, timeZone))
  const known = minutes.filter((minute) => minute !== undefined)
  if (range.window === undefined || known.length === 0 || known.length < minutes.length) return undefined
  return { from: Math.min(...known), to: Math.max(...known) + MINUTE }
}

function minuteIn(row: Row, { column, stream }: ComparedRange, timeZone: string): WallTime | undefined {
  return minuteOf(row[column ?? stream.timeColumns[0] ?? ''], timeZone)
}

/** What happened so shortly before a reading need not have been shown to it yet. */
const DELAY_SECONDS = 300

/**
 * Whether a row may differ only because the source has moved on since it was last read: it is newer than that reading, or was
 * in use when or after it was made. Then the next sync brings it, and nothing is wrong. `lastReadAt`: undefined where it was
 * never read, and nothing is claimed.
 */
export function hasChangedSince(
  stream: Stream,
  { kind, row, cells }: Pick<DifferingRow, 'kind' | 'row' | 'cells'>,
  lastReadAt: Date | undefined,
  { timeZone, nowMs }: { readonly timeZone: string; readonly nowMs: number },
): boolean {
  if (lastReadAt === undefined) return true
  const readAt = wallTimeAt(lastReadAt.getTime(), timeZone)
  const isSince = (time: WallTime | undefined) => time !== undefined && time > readAt - DELAY_SECONDS
  if (kind === 'missing') {
    const { bornColumn: born } = stream
    const at = latestOf(row, born === undefined ? timesOf(stream) : [born], timeZone)
    const isDay = born !== undefined && stream.columns[born]?.type === 'date'
    return isSince(at !== undefined && isDay ? at + DAY : at)
  }
  if (stream.isEdited && nowMs > lastReadAt.getTime() + DELAY_SECONDS * 1000) return true
  const { movingColumns: moving } = stream
  if (moving && cells.every(({ column }) => moving.includes(column))) return true
  return stream.freshnessColumn !== undefined && isSince(latestOf(row, [stream.freshnessColumn], timeZone))
}

/** Whether rows tell when they came about or changed. Of what does not, only the number shows what is new. */
export function hasTimes(stream: Stream): boolean {
  return stream.bornColumn !== undefined || timesOf(stream).length > 0
}

function timesOf({ timeColumns, freshnessColumn }: Stream): readonly string[] {
  return [...timeColumns, ...(freshnessColumn === undefined ? [] : [freshnessColumn])]
}

function latestOf(row: Row, columns: readonly string[], timeZone: string): WallTime | undefined {
  const minutes = columns.flatMap((column) => minuteOf(row[column], timeZone) ?? [])
  return minutes.length === 0 ? undefined : Math.max(...minutes)
}

/** Whether rows of this range may change by themselves: it lies, or ends, within the lookback of their stream. */
export function mayStillChange(
  { stream, window }: { readonly stream: Stream; readonly window: Window | undefined },
  { clock, timeZone }: Pick<RunDeps, 'clock' | 'timeZone'>,
): boolean {
  return window === undefined || window.to > wallTimeAt(clock.now(), timeZone) - stream.lookbackDays * DAY
}

import type { Row } from '../../core/column.ts'
import { placeOf, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { DAY, MINUTE, type WallTime } from '../../core/wall-clock.ts'
import { hashItem } from '../../ledger/quarantine/quarantine.ts'
import { readLastReading } from '../../ledger/slices/slices.ts'
import { findUnknownKeys } from '../../store/load/audit-part.ts'
import { findAbsent, rowKeyColumn, type TablePart } from '../../store/load/table-part.ts'
import { isConclusive } from '../judge-walk.ts'
import { extractSlice } from '../run-slice.ts'
import { type CallMeter, openReading } from '../slice-reading.ts'
import type { Extraction, RunDeps, Slice } from '../slice-work.ts'
import { claimableUntil, isIn, lookbackStart, minuteOf, minuteOfItem, partUntil, readableUntil } from '../windows.ts'
import type { Difference } from './comparison.ts'

/** A range to compare row by row. */
interface ComparedRange extends Omit<TablePart, 'timeZone'> {
  /** The hashes of the items in quarantine. */
  readonly quarantined: ReadonlySet<string>
  /** For a list without times, the number of rows in its last reading. */
  readonly lastRows?: number | undefined
}

const BATCH = 1000
/** How many keys a difference names. */
const MAX_KEYS = 20

/**
 * Reads a range and compares the keys of its rows with the warehouse, in both directions. Writes nothing. Changes of
 * the source since its last reading become notes, not differences.
 */
export async function compareRange(range: ComparedRange, deps: RunDeps, meter: CallMeter) {
  const { stream, partition, window } = range
  const { db, timeZone } = deps
  const keyColumn = rowKeyColumn(stream)
  const missing = new Map<string, Row>()
  let pending: Row[] = []
  const compare = async () => {
    const rows = new Map(pending.map((row) => [String(row[keyColumn]), row]))
    pending = []
    const unknownKeys = new Set(await findUnknownKeys(db, { ...range, timeZone }, [...rows.keys()]))
    for (const [key, row] of rows) if (unknownKeys.has(key)) missing.set(key, row)
  }
  const readWindow = extendToNow(range, deps)
  // As in a sync, a range of rows without an id that is old enough to be covered is cut until its parts stop moving.
  const claimable = claimableUntil(deps.wallTimeAt(deps.claimableMs()))
  const covers = stream.identity && readWindow && partUntil(readWindow, claimable)
  const slice = { stream, partition, window: readWindow, covers }
  const { readings, isCutAsMoving } = await readRange(slice, deps, meter, async (rows) => {
    for (const row of rows) if (touches(row, range, timeZone)) pending.push(row)
    if (pending.length >= BATCH) await compare()
  })
  await compare()

  const received = readings.reduce((sum, { summary }) => sum + summary.distinct, 0)
  // All rows of the last reading are here, so the others have come since.
  const areNew = range.lastRows !== undefined && received - missing.size >= range.lastRows
  const lostRows = areNew ? [] : await withoutNewRows([...missing.values()], range, deps)
  const unknownItems = readings
    .flatMap(({ summary }) => summary.rejected)
    .filter(({ raw }) => !range.quarantined.has(hashItem(raw)))
  const lostItems = unknownItems.filter(({ raw }) => isOldItem(raw, range, deps))
  const hasMoved = isCutAsMoving || readings.some(({ verdict }) => verdict.proof === 'moving')
  const isRestless = stream.identity !== undefined && readings.some(({ verdict }) => verdict.isAtRest === false)
  const { surplus, kept } = hasMoved ? { surplus: [], kept: [] } : await findSurplus(range, readings, deps)
  const withheld = readings.reduce((sum, reading) => sum + withheldBy(reading), 0)
  const lostKeys = lostRows.map((row) => String(row[keyColumn]))
  const lostHashes = lostItems.map(({ raw }) => `unreadable item ${hashItem(raw).slice(0, 8)}`)
  const differences: readonly Difference[] = [
    ...differenceOf('missing', lostKeys, spanOf(lostRows, range, timeZone)),
    ...differenceOf('missing', lostHashes, window),
    ...differenceOf('surplus', surplus, window),
    ...(withheld === 0 ? [] : [{ kind: 'withheld', rows: withheld, window } as const]),
    ...(isRestless ? [{ kind: 'restless', rows: 0, window } as const] : []),
  ]
  const keptKeys = [...kept.slice(0, MAX_KEYS), ...(kept.length > MAX_KEYS ? ['…'] : [])].join(', ')
  const newRows = missing.size - lostRows.length
  const newItems = unknownItems.length - lostItems.length
  return {
    differences,
    notes: [
      ...(newRows > 0 ? [`new or still changing since the last reading: ${newRows}`] : []),
      ...(kept.length > 0 ? [`no longer at the source, and kept: ${kept.length} (${keyColumn} ${keptKeys})`] : []),
      ...(newItems > 0 ? [`unreadable items that are new or have changed since the last reading: ${newItems}`] : []),
    ],
    /** Whether the list moved while it was read, so that it shows nothing about rows that did not come. */
    hasMoved,
    keptRows: kept.length,
    hasKey: (key: string) => readings.some(({ found }) => found.has(key)),
    received,
  }
}

/** Extends a window in which rows still change up to now: a viewer who came back may have moved a row's later time. */
function extendToNow(range: ComparedRange, deps: RunDeps): Window | undefined {
  const { window, stream } = range
  if (window === undefined || stream.timeColumns.length < 2 || !mayStillChange(stream, window.to, deps)) return window
  return { from: window.from, to: Math.max(window.to, readableUntil(deps.wallTimeAt(deps.clock.now()))) }
}

/** Whether a row has a time in the window, or no readable time. */
function touches(row: Row, { window, stream }: ComparedRange, timeZone: string): boolean {
  const minutes = stream.timeColumns.flatMap((name) => minuteOf(row[name], timeZone) ?? [])
  return window === undefined || minutes.length === 0 || minutes.some((at) => isIn(window, at))
}

/** Leaves out rows that came into being after their minute was last read. The next sync brings them. */
async function withoutNewRows(rows: readonly Row[], range: ComparedRange, { db, timeZone, wallTimeAt }: RunDeps) {
  const { stream, window } = range
  const minutes = rows.map((row) => window && (minuteOf(row[stream.timeColumns[0] ?? ''], timeZone) ?? window.from))
  const readAt = await readLastReading(db, placeOf(range), minutes)
  return rows.filter((row, index) => {
    const at = readAt[index]
    return at !== undefined && existsBy(row, stream, timeZone) <= claimableUntil(wallTimeAt(at.getTime()))
  })
}

/** The latest time by which a row existed; of a date, the end of the day. Without a time it may always have existed. */
function existsBy(row: Row, stream: Stream, timeZone: string): WallTime {
  const minutes = timesOf(stream).flatMap((name) => minuteOf(row[name], timeZone) ?? [])
  return Math.max(...minutes) + (stream.columns[stream.bornColumn ?? '']?.type === 'date' ? DAY : 0)
}

/** The columns that show when a row came into being. Without any, only the number of rows shows that some are new. */
export function timesOf({ bornColumn, timeColumns, freshnessColumn }: Stream): readonly string[] {
  if (bornColumn !== undefined) return [bornColumn]
  return freshnessColumn === undefined ? timeColumns : [...timeColumns, freshnessColumn]
}

/**
 * The range from the first to the last minute of these rows by all their times, because it is unknown by which one the
 * service counts them. The whole window if a row lacks its first time.
 */
function spanOf(rows: readonly Row[], { stream, window }: ComparedRange, timeZone: string): Window | undefined {
  const [first = ''] = stream.timeColumns
  if (window === undefined || rows.some((row) => minuteOf(row[first], timeZone) === undefined)) return window
  const minutes = rows.flatMap((row) => stream.timeColumns.flatMap((name) => minuteOf(row[name], timeZone) ?? []))
  const [from, to] = [minutes.reduce((a, b) => Math.min(a, b), Infinity), minutes.reduce((a, b) => Math.max(a, b), 0)]
  return minutes.length === 0 ? window : { from, to: to + MINUTE }
}

/** Whether rows of this time may still change, because it lies within the lookback of their stream. */
export function mayStillChange({ lookbackDays }: Stream, at: WallTime, { clock, wallTimeAt }: RunDeps): boolean {
  return at > lookbackStart(wallTimeAt(clock.now()), lookbackDays)
}

/** Whether an unreadable item is too old to change, so that the same item should be in quarantine. */
function isOldItem(raw: string, { stream, window }: ComparedRange, deps: RunDeps): boolean {
  const at = minuteOfItem(raw, stream, deps.timeZone) ?? window?.to
  return at !== undefined && !mayStillChange(stream, at, deps)
}

function differenceOf(kind: 'missing' | 'surplus', keys: readonly string[], window: Window | undefined) {
  return keys.length === 0 ? [] : [{ kind, rows: keys.length, keys: keys.slice(0, MAX_KEYS), window }]
}

/**
 * Finds rows of the warehouse that did not come; none if the list moved or was short, as that shows nothing about them.
 * `kept`: old rows of a stream that keeps every row. They are right, and another reading would not change them.
 */
async function findSurplus(range: ComparedRange, readings: readonly Extraction[], deps: RunDeps) {
  const { db, timeZone, clock, wallTimeAt } = deps
  const { stream, window } = range
  if (!readings.every(({ verdict }) => isConclusive(verdict))) return { surplus: [], kept: [] }
  const absentOf = async (part: Window | undefined) =>
    await findAbsent(db, { ...range, window: part, timeZone }, (key) => readings.some(({ found }) => found.has(key)))
  if (stream.marksRemoved) return { surplus: await absentOf(window), kept: [] }
  if (window === undefined) return { surplus: [], kept: await absentOf(window) }
  const oldPart = partUntil(window, lookbackStart(wallTimeAt(clock.now()), stream.lookbackDays))
  const kept = oldPart ? await absentOf(oldPart) : []
  return { surplus: [...new Set(await absentOf(window)).difference(new Set(kept))], kept }
}

function withheldBy({ verdict, summary }: Extraction): number {
  if (verdict.proof !== 'short') return 0
  return Math.max(0, (summary.totals?.largest ?? 0) - summary.distinct - summary.rejected.length)
}

/**
 * Reads a slice as a sync does, in parts if it is large, but lands nothing: its rows go to `take`, those of a repeated
 * walk again. @returns the readings of its parts
 */
async function readRange(whole: Slice, deps: RunDeps, meter: CallMeter, take: (rows: readonly Row[]) => Promise<void>) {
  const nothing = async () => {}
  const loader = { add: take, flush: nothing, drain: nothing, expectNew: () => {} }
  const pending = [whole]
  const readings: Extraction[] = []
  let isCutAsMoving = false
  for (let slice = pending.pop(); slice !== undefined; slice = pending.pop()) {
    const extracted = await extractSlice(openReading(slice, deps, meter), loader)
    if (extracted.kind === 'cut') {
      pending.push(...extracted.parts)
      isCutAsMoving ||= extracted.hasMoved === true
      continue
    }
    await take(extracted.unproven ?? [])
    readings.push(extracted)
  }
  return { readings, isCutAsMoving }
}

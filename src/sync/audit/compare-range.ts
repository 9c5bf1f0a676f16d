import type { Row } from '../../core/column.ts'
import { noCounts } from '../../core/outcome.ts'
import type { Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { MINUTE, wallTimeAt } from '../../core/wall-clock.ts'
import { hashItem } from '../../ledger/quarantine.ts'
import { compareRows, type DifferingRow } from '../../store/compare-rows.ts'
import { findAbsent, rowKeyColumn } from '../../store/table-part.ts'
import type { BatchLoader } from '../batch-loader.ts'
import { extractSlice } from '../extract-slice.ts'
import { type Extraction, isSettled } from '../judge-walk.ts'
import { openReading } from '../open-reading.ts'
import { settledPart } from '../plan-windows.ts'
import { minuteOf } from '../row-window.ts'
import type { CallMeter, RunDeps, Slice } from '../slice-work.ts'
import { minuteOfItem } from './holdings.ts'
import { type ComparedRange, judgeRows, mayStillChange, MOST_KEYS } from './judge-rows.ts'
import type { Difference } from './partition-audit.ts'

export interface RangeComparison {
  readonly differences: readonly Difference[]
  readonly notes: readonly string[]
  /** Whether the list moved while it was read, so that it says nothing about rows that did not come. */
  readonly hasMoved: boolean
  /** Rows that came. */
  readonly rows: number
  /** Of these, what lies in the range. */
  readonly found: number
  readonly hasKey: (key: string) => boolean
}

const BATCH = 1000

/** Reads a range and holds every row of it against the warehouse, both ways. Writes nothing. */
export async function compareRange(range: ComparedRange, deps: RunDeps, meter: CallMeter): Promise<RangeComparison> {
  const { stream, partition, window } = range
  const differing = new Map<string, DifferingRow>()
  let pending: Row[] = []
  const compare = async () => {
    const rows = latestOfEach(stream, pending)
    pending = []
    const found = await compareRows(deps.db, stream, rows, deps.timeZone)
    // What an earlier walk brought of these rows is out of date.
    for (const row of rows) differing.delete(String(row[rowKeyColumn(stream)]))
    for (const each of found) differing.set(each.key, each)
  }
  const readings = await readRange({ stream, partition, window, covers: undefined }, deps, meter, async (rows) => {
    for (const row of rows) if (belongsTo(row, range, deps.timeZone)) pending.push(row)
    if (pending.length >= BATCH) await compare()
  })
  await compare()

  const received = readings.reduce((sum, { extraction }) => sum + extraction.summary.distinct, 0)
  const missing = [...differing.values()].filter(({ kind }) => kind === 'missing').length
  // As many as the last reading had are here: the others have come since.
  const areMissingNew = range.knownRows !== undefined && received - missing >= range.knownRows
  const judged = await judgeRows([...differing.values()], range, deps, areMissingNew)
  const kept = await findKept(range, readings, deps)
  const absent = (await findSurplus(range, readings, deps)).filter((key) => !kept.has(key))
  const mayHaveMoved = absent.length > 0 && mayMoveOut(range, deps)
  const surplus = mayHaveMoved ? [] : absent
  const unknown = unknownItems(range, readings)
  const lost = unknown.filter(({ raw }) => isOldItem(raw, range, deps))
  const recent = unknown.length - lost.length
  const withheld = readings.reduce((sum, reading) => sum + withheldBy(reading), 0)
  const differences: readonly Difference[] = [
    ...judged.differences,
    ...named(
      'missing',
      lost.map(({ hash }) => `unreadable item ${hash.slice(0, 8)}`),
      window,
    ),
    ...named('surplus', surplus, window),
    ...(withheld === 0 ? [] : [{ kind: 'withheld', rows: withheld, window } as const]),
  ]
  const moved = `moved to a later time since the last reading: ${absent.length}`
  return {
    differences,
    notes: [
      ...judged.notes,
      ...(mayHaveMoved ? [moved] : []),
      ...(kept.size > 0 ? [keptNote(range, [...kept])] : []),
      ...(recent > 0 ? [`unreadable items that are new or have changed since the last reading: ${recent}`] : []),
    ],
    hasMoved: readings.some(({ extraction }) => extraction.verdict.proof === 'moving'),
    rows: received,
    found: readings.reduce((sum, { extraction }) => sum + extraction.found.count, 0),
    hasKey: (key) => readings.some(({ extraction }) => extraction.found.has(key)),
  }
}

/** What came and could not be read, and is not in quarantine. */
function unknownItems(
  { quarantined }: ComparedRange,
  readings: readonly RangeReading[],
): readonly { readonly raw: string; readonly hash: string }[] {
  return readings
    .flatMap(({ extraction }) => extraction.summary.rejected)
    .map(({ raw }) => ({ raw, hash: hashItem(raw) }))
    .filter(({ hash }) => !quarantined.has(hash))
}

/** One that no longer changes should be in quarantine as it came. */
function isOldItem(raw: string, range: ComparedRange, deps: RunDeps): boolean {
  const column = range.column ?? range.stream.timeColumns[0]
  const minute = column === undefined ? undefined : minuteOfItem(raw, range.stream, column, deps.timeZone)
  if (minute === undefined) return !mayStillChange(range, deps)
  return !mayStillChange({ ...range, window: { from: minute, to: minute + MINUTE } }, deps)
}

function named(
  kind: 'missing' | 'surplus',
  keys: readonly string[],
  window: Window | undefined,
): readonly Difference[] {
  return keys.length === 0 ? [] : [{ kind, rows: keys.length, keys: keys.slice(0, MOST_KEYS), window }]
}

/** Of rows with one key that came in several walks, the last. */
function latestOfEach({ key }: Stream, rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [JSON.stringify(key.map((name) => row[name])), row])).values()]
}

/** More was read than the window holds. */
function belongsTo(row: Row, { window, column, stream }: ComparedRange, timeZone: string): boolean {
  if (window === undefined) return true
  const columns = column === undefined ? stream.timeColumns : [column]
  return columns.every((name) => {
    const minute = minuteOf(row[name], timeZone)
    return minute === undefined || (minute >= window.from && minute < window.to)
  })
}

/** Rows of the warehouse that did not come. A list that moved or was cut short says nothing about them. */
async function findSurplus(
  { stream, partition, window, column, serviceDay }: ComparedRange,
  readings: readonly RangeReading[],
  { db, timeZone }: RunDeps,
): Promise<readonly string[]> {
  if (!readings.every(({ extraction }) => isSettled(extraction.verdict))) return []
  const columns = column === undefined ? stream.timeColumns : [column]
  const part = {
    stream: { ...stream, timeColumns: columns },
    partition,
    window,
    timeZone,
    ...(serviceDay !== undefined && { serviceDay }),
  }
  return await findAbsent(db, part, (key) => readings.some(({ extraction }) => extraction.found.has(key)))
}

/** Old rows that the source no longer has, of streams of which every row is kept: no loss, and nothing that a reading would change. */
async function findKept(
  range: ComparedRange,
  readings: readonly RangeReading[],
  deps: RunDeps,
): Promise<ReadonlySet<string>> {
  const { stream, window } = range
  if (stream.marksRemoved || window === undefined) return new Set()
  const settled = settledPart(window, wallTimeAt(deps.clock.now(), deps.timeZone), stream.lookbackDays)
  return new Set(settled && (await findSurplus({ ...range, window: settled }, readings, deps)))
}

function keptNote({ stream }: ComparedRange, keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_KEYS).join(', ')
  return `no longer at the source, and kept: ${keys.length} (${rowKeyColumn(stream)} ${shown}${keys.length > MOST_KEYS ? ', …' : ''})`
}

/** By the time that moves while a viewer is there, a row of the last days leaves a range for a later one. */
function mayMoveOut(range: ComparedRange, deps: RunDeps): boolean {
  const { column, stream } = range
  return column !== undefined && column === stream.freshnessColumn && mayStillChange(range, deps)
}

function withheldBy({ extraction: { verdict, summary } }: RangeReading): number {
  if (verdict.proof !== 'short') return 0
  return (summary.totals?.largest ?? 0) - summary.distinct - summary.rejected.length
}

/** A part of what was read, as a sync would have read it. */
interface RangeReading {
  readonly slice: Slice
  readonly extraction: Extraction
}

/**
 * Reads a slice as a sync does, cut into parts where it is large, and lands nothing: its rows go to `take`, where a walk is
 * repeated more than once. @returns the readings of its parts
 */
async function readRange(
  whole: Slice,
  deps: RunDeps,
  meter: CallMeter,
  take: (rows: readonly Row[]) => Promise<void>,
): Promise<readonly RangeReading[]> {
  const loader: BatchLoader = {
    add: take,
    flush: async () => {},
    finish: async () => {},
    settle: async () => {},
    counts: () => noCounts,
  }
  const left = [whole]
  const readings: RangeReading[] = []
  for (let slice = left.pop(); slice !== undefined; slice = left.pop()) {
    const reading = openReading(slice, deps, meter)
    const extracted = await extractSlice(slice, reading, deps, loader)
    if (extracted.kind === 'cut') {
      left.push(...extracted.parts)
      continue
    }
    const { extraction } = extracted
    await take(extraction.unproven ?? [])
    readings.push({ slice, extraction })
  }
  return readings
}

import { formatWindow, type Partition, placeOf, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { DAY, floorToMinute, formatWallDate, formatWallMinute, MINUTE, type WallTime } from '../../core/wall-clock.ts'
import { readWaitingOfPartition, type WaitingItem } from '../../ledger/quarantine/quarantine.ts'
import { readEarlierReadings } from '../../ledger/slices/earlier-readings.ts'
import { readLastReading } from '../../ledger/slices/slices.ts'
import { countUntimed, findMinute, findQuietMinute } from '../../store/load/audit-part.ts'
import { countPartRows, readMissedRows } from '../../store/load/table-part.ts'
import { mayBeTooLong } from '../slice-parts.ts'
import type { CallMeter } from '../slice-reading.ts'
import type { RunDeps } from '../slice-work.ts'
import { claimableUntil, cutWindowAt, isIn, isOfDay, minuteOfItem } from '../windows.ts'
import { compareRange, mayStillChange, timesOf } from './compare-range.ts'
import { type AuditTask, askTotal, type Comparison, mergeComparisons, noComparison } from './comparison.ts'

/** Compares one partition with as few calls as its stream allows. */
export async function auditPartition(task: AuditTask, deps: RunDeps, meter: CallMeter): Promise<Comparison> {
  const { stream, partition, covered, uncovered } = task
  if (task.isLeftOut) return noComparison
  if (covered === undefined) return await auditList(stream, partition, deps, meter)
  const items = await readWaitingOfPartition(deps.db, placeOf(task))
  const minutes = items.map(({ raw }) => minuteOfItem(raw, stream, deps.timeZone))
  const sides = { stream, partition, minutes, quarantined: new Set(items.map(({ itemHash }) => itemHash)), deps, meter }
  const parts: Comparison[] = []
  for (const window of covered) parts.push(await auditRange(window, sides))
  // By the two clocks: up to when ranges could be claimed, and up to when they should be covered.
  const [from = 0, to = 0] = [deps.claimableMs(), deps.clock.now()].map((ms) => claimableUntil(deps.wallTimeAt(ms)))
  for (const window of [...uncovered, ...(to - from > 60 * MINUTE ? [{ from, to }] : [])]) {
    const part = mergeComparisons(await compareByCount(window, { ...sides, isUncovered: true }, { cuts: 0 }))
    const least = stream.isCounted ? '' : `, and the service gives no total, but has at least ${part.sourceRows} rows`
    const note = `no reading covers ${formatWindow(window)}${least}: livehouse sync or backfill reads it`
    parts.push(part.verdict === 'equal' ? part : { ...part, notes: [note, ...part.notes] })
  }
  parts.sort((a, b) => (a.window?.from ?? 0) - (b.window?.from ?? 0))
  const { notes, ...merged } = mergeComparisons(parts)
  const gaps = `the gaps between its ${covered.length} covered ranges are not compared, as nothing is claimed of them`
  const isBehind = to - from > MINUTE
  const late = `this machine's clock is behind, so nothing after ${formatWallMinute(from)} counts as covered`
  return {
    ...merged,
    notes: [...(isBehind ? [late] : []), ...(covered.length > 1 && uncovered.length === 0 ? [gaps] : []), ...notes],
  }
}

/** A range with at most this many rows at the source is read and not halved. */
const SMALL_ROWS = 300
/** At most this many rows are read if a range cannot be halved, or lies in the lookback, where rows still change. */
const MAX_READ_ROWS = 20_000
/** At most this often the range of a partition is halved. */
const MAX_CUTS = 40

/** What the ranges of a partition are compared with. */
interface Sides {
  readonly stream: Stream
  readonly partition: Partition
  /** The hashes of the items in quarantine, and their minutes, which are undefined if they cannot be read. */
  readonly quarantined: ReadonlySet<string>
  readonly minutes: readonly (WallTime | undefined)[]
  readonly deps: RunDeps
  readonly meter: CallMeter
  /** Whether the range is not covered, so that even a new row that the warehouse lacks is missing. */
  readonly isUncovered?: boolean
}

/** The state that the halves of a range share. */
interface Halving {
  /** How often the range may still be halved. */
  cuts: number
  /** In seconds, the shortest range that the service has refused, although it serves one day. */
  refused?: number
}

/**
 * Compares a range by its total if the source has one, and otherwise by reading it. It is unknown by which time the
 * service counts a row, and whether its filter includes the ends. So the warehouse counts only rows with all their
 * times in the range, and the source also counts the minute before it, and thus never too few. Equal numbers mean that
 * nothing is missing. Otherwise the range is halved, at minutes that no row touches, until it is short enough to read.
 */
async function auditRange(range: Window, sides: Sides): Promise<Comparison> {
  if (!sides.stream.isCounted) return await compareByReading(range, sides)
  const { from, to } = range
  const first = await findUntouched({ from, to: Math.min(to, from + DAY) }, from, sides)
  const last = await findUntouched({ from: Math.max(from, to - DAY), to }, to, sides)
  const parts: Comparison[] = []
  const halving: Halving = { cuts: MAX_CUTS }
  for (const part of cutWindowAt(range, [first ?? from, last ?? to]).toReversed())
    parts.push(...(await compareByCount(part, sides, halving)))
  return mergeComparisons(parts)
}

/** Compares the parts of a range by count, oldest first. In one part, missing and surplus rows may cancel out. */
async function compareByCount(window: Window, sides: Sides, halving: Halving): Promise<readonly Comparison[]> {
  const { stream, partition, deps, meter, isUncovered = false } = sides
  const length = window.to - window.from
  const ask = async (range: Window) => await askTotal({ stream, partition, window: range }, deps, meter)
  const inHalves = async (at: WallTime): Promise<readonly Comparison[]> => {
    const older = await compareByCount({ from: window.from, to: at }, sides, halving)
    return [...older, ...(await compareByCount({ from: at, to: window.to }, sides, halving))]
  }
  const inEqualHalves = async () => {
    const middle = floorToMinute((window.from + window.to) / 2)
    const near = { from: middle - DAY / 4, to: middle + DAY / 4 }
    return await inHalves((await findUntouched(near, middle, sides)) ?? middle)
  }
  if (length >= (halving.refused ?? Infinity)) return await inEqualHalves()
  const { rows: warehouseRows, quarantined: quarantinedRows } = await countRows(window, sides)
  // For a gap exactly its range is counted, because the ranges beside it are covered.
  const range = isUncovered ? { from: window.from, to: window.to - 1 } : { from: window.from - MINUTE, to: window.to }
  const sourceRows = await ask(range).catch(async (error: unknown) => {
    if (!mayBeTooLong(error) || length < DAY) throw error
    // The service may serve no ranges of this length. If it fails at a day too, that error is thrown.
    if (halving.refused === undefined) await ask({ from: window.to - DAY, to: window.to })
    halving.refused = length
    return undefined
  })
  if (sourceRows === undefined) return await inEqualHalves()
  const counted = { ...noComparison, window, sourceRows, warehouseRows, quarantinedRows }
  const rows = sourceRows - warehouseRows
  // In a list without a total, only page 1 was counted.
  if (!stream.isCounted && warehouseRows > 0 && rows <= 0) return [{ ...counted, verdict: 'unverifiable' }]
  if (rows === 0) return [{ ...counted, verdict: 'equal' }]
  if (isUncovered) return [await judgeCount(counted, rows, window, sides)]

  // Rows that only the warehouse has need no calls.
  const mostRead = mayStillChange(stream, window.from, deps) ? MAX_READ_ROWS : SMALL_ROWS
  const isSmall = sourceRows <= mostRead && warehouseRows <= MAX_READ_ROWS
  const mayBeHalved = warehouseRows > 0 && !isSmall && halving.cuts > 0
  const at = mayBeHalved ? await middleOf(window, warehouseRows, sides) : undefined
  if (at !== undefined) {
    halving.cuts--
    return await inHalves(at)
  }
  if (Math.max(sourceRows, warehouseRows) <= MAX_READ_ROWS) return [await compareByReading(window, sides)]
  return [await judgeCount(counted, rows, window, sides)]
}

/** Judges a count. Rows that touch an end may count on either side of it, and rows without a readable time anywhere. */
async function judgeCount(counted: Comparison, rows: number, window: Window, sides: Sides): Promise<Comparison> {
  let unclear = (await countRows(undefined, sides)).rows
  for (const end of [window.from, window.to]) unclear += (await findQuiet({ from: end, to: end }, end, sides)).touching
  if (Math.abs(rows) > unclear)
    return { ...counted, verdict: 'different', differences: [{ kind: 'count', rows, window }] }
  const within = `counted to within ${unclear} rows, which touch its ends or have no readable time`
  const note = `${within}; a range of at most ${MAX_READ_ROWS} rows (--from, --to) is read row by row`
  return { ...counted, verdict: 'unverifiable', notes: [note] }
}

async function compareByReading(window: Window, sides: Sides): Promise<Comparison> {
  const { stream, partition, quarantined, deps, meter } = sides
  const range = { stream, partition, window, quarantined }
  const { differences, notes, hasMoved, keptRows } = await compareRange(range, deps, meter)
  const held = await countRows(window, sides)
  const more = differences.reduce((sum, { kind, rows }) => sum + (kind === 'surplus' ? -rows : rows), 0)
  return {
    verdict: differences.length > 0 ? 'different' : hasMoved ? 'moving' : 'equal',
    window,
    sourceRows: held.rows + more - keptRows,
    warehouseRows: held.rows,
    quarantinedRows: held.quarantined,
    differences,
    notes,
  }
}

/** Counts the rows and quarantined items in a range; without a range, those without a readable time. */
async function countRows(window: Window | undefined, { stream, partition, minutes, deps }: Sides) {
  const part = { stream, partition, window, timeZone: deps.timeZone }
  const rows = await (window ? countPartRows : countUntimed)(deps.db, part)
  const quarantined = minutes.filter((minute) => {
    if (window === undefined || minute === undefined) return window === minute
    return isIn(window, minute)
  }).length
  return { rows: rows + quarantined, quarantined }
}

/** Finds the minute inside a range that no row touches and that is closest to the median of its rows. */
async function middleOf(window: Window, heldRows: number, sides: Sides): Promise<WallTime | undefined> {
  const { stream, partition, deps } = sides
  const part = { stream, partition, window, timeZone: deps.timeZone }
  const middle = await findMinute(deps.db, part, Math.floor(heldRows / 2))
  const inside = { from: window.from + MINUTE, to: window.to - MINUTE }
  if (middle === undefined || inside.from > inside.to) return undefined
  return await findUntouched(inside, middle, sides)
}

/** Finds the minute of a window that no row touches and that is closest to a time; undefined if there is none. */
async function findUntouched(window: Window, near: WallTime, sides: Sides): Promise<WallTime | undefined> {
  const { at, touching } = await findQuiet(window, near, sides)
  return touching === 0 ? at : undefined
}

async function findQuiet(window: Window, near: WallTime, { stream, partition, deps }: Sides) {
  return await findQuietMinute(deps.db, { stream, partition, window, timeZone: deps.timeZone }, near)
}

/**
 * Compares a list without a time filter by its total. If that differs, the list is read once and compared row by row.
 * Changes that may be later than its last reading are not differences.
 */
async function auditList(stream: Stream, partition: Partition, deps: RunDeps, meter: CallMeter): Promise<Comparison> {
  const { db, timeZone, wallTimeAt } = deps
  const place = placeOf({ stream, partition })
  const [readAt] = await readLastReading(db, place, [undefined])
  const dayOf = (instant: Date) => formatWallDate(wallTimeAt(instant.getTime()))
  const today = dayOf(new Date(deps.clock.now()))
  const isDaily = isOfDay(stream)
  const readOn = readAt && dayOf(readAt)
  if (isDaily && readOn !== undefined && readOn !== today) {
    const notes = [`not comparable: the last snapshot is from ${readOn}`]
    return { ...noComparison, verdict: 'unverifiable', notes }
  }

  const items = await readWaitingOfPartition(db, place)
  const ofToday = ({ lastSeenAt }: WaitingItem) => !isDaily || dayOf(lastSeenAt) === today
  const day = isDaily ? { serviceDay: today } : {}
  const quarantinedRows = items.filter(ofToday).length
  const held = await countPartRows(db, { stream, partition, window: undefined, timeZone, ...day })
  const warehouseRows = held + quarantinedRows
  const sourceRows = await askTotal({ stream, partition }, deps, meter)
  const counted = { ...noComparison, sourceRows, warehouseRows, quarantinedRows }
  // If the warehouse keeps rows that are gone from the source, these could cancel out missing ones.
  const isCountEnough = stream.marksRemoved || isDaily
  if (sourceRows === warehouseRows && isCountEnough) return { ...counted, verdict: 'equal' }

  const rows = sourceRows - warehouseRows
  if (readAt === undefined && rows <= 0) return noComparison
  if (readAt === undefined || Math.abs(rows) > MAX_READ_ROWS)
    return { ...counted, verdict: 'different', differences: [{ kind: 'count', rows, window: undefined }] }

  const quarantined = new Set(items.map(({ itemHash }) => itemHash))
  const lastRows = timesOf(stream).length > 0 ? undefined : (await readEarlierReadings(db, place, true)).lastRows
  const range = { stream, partition, window: undefined, quarantined, lastRows, ...day }
  const compared = await compareRange(range, deps, meter)
  // Rows that are gone from the source are not differences if the last reading has already missed them.
  const missed = await readMissedRows(db, place)
  const missedAlready = compared.differences.filter(({ kind, rows: gone }) => kind === 'surplus' && gone <= missed)
  const differences = compared.differences.filter((each) => !missedAlready.includes(each))
  // A list that moves while it is read shows no row as gone. But if two counts agree that it has fewer rows than the
  // warehouse, and no more came than it counts, then some are gone.
  const surplus = held - missed - sourceRows
  const hasFewer = compared.hasMoved && differences.length === 0 && surplus > 0 && compared.received <= sourceRows
  if (hasFewer && (await askTotal({ stream, partition }, deps, meter)) === sourceRows)
    differences.push({ kind: 'count', rows: -surplus, window: undefined })
  const verdict = differences.length > 0 ? 'different' : compared.hasMoved ? 'moving' : 'equal'
  const by = sourceRows === 0 ? 'a reading that is empty an hour later, too' : 'the next proven reading'
  const notes = missedAlready.map(({ rows }) => `no longer at the source, to be marked as removed by ${by}: ${rows}`)
  return { ...counted, verdict, differences, notes: [...compared.notes, ...notes], hasKey: compared.hasKey }
}

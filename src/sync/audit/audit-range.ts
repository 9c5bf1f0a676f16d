import { isEmptyWindow, type Partition, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { DAY } from '../../core/wall-clock.ts'
import type { CallMeter, RunDeps } from '../slice-work.ts'
import { compareRange, mayStillChange, newestOf } from './compare-range.ts'
import type { Holdings } from './holdings.ts'
import { askTotal, type Comparison, type Difference, mergeComparisons } from './partition-audit.ts'

/** A range in which neither side has more rows is small enough to be read, and its rows to be named. */
const SMALL_ROWS = 300
/**
 * Of the last days as many: there rows come and change by themselves, in a live channel hundreds at once, and only by reading them
 * is that told from a loss.
 */
const MOST_UNSETTLED_ROWS = 20_000
/** Calls by which a difference is narrowed down in a partition; what is left then is named by its count. */
const MOST_CUTS = 40

/** A range that has been counted on both sides. */
interface CountedRange {
  readonly window: Window
  readonly sourceRows: number
  readonly heldRows: number
  /** So many rows touch its ends: it is not known on which side of them the service counts these. */
  readonly slack: number
}

/** A partition, and what its ranges are compared with. */
interface Sides {
  readonly audit: {
    readonly stream: Stream
    readonly partition: Partition
    /** Whether the range is all that is covered of the partition: then what has no readable time lies in it. */
    readonly isWhole: boolean
  }
  readonly holdings: Holdings
  readonly deps: RunDeps
  readonly meter: CallMeter
}

/**
 * Compares a range of a list that is filtered by time and tells its total. By which time the service counts a row, and whether the
 * ends of its filter belong to it, is not known: so the rows are counted between two minutes that no row touches, and what lies
 * outside of them is read. Where the counts differ, the range is halved at such minutes until it is small, and read.
 */
export async function auditRange(range: Window, sides: Sides): Promise<Comparison> {
  const { audit, holdings, deps, meter } = sides
  const { from, to } = range
  const start = await holdings.quietMinute({ from, to: Math.min(to, from + DAY) }, from)
  const quiet = await holdings.quietMinute({ from: Math.max(from, to - DAY), to }, to)
  // Of the last days all up to now, where somebody is always there: no row touches that. What is new since the last reading is read.
  const isUpToNow = quiet.touching > 0 && start.touching === 0 && mayStillChange({ ...audit, window: range }, deps)
  const end = isUpToNow ? { at: newestOf(deps), touching: 0 } : quiet
  const window = { from: start.at, to: Math.max(start.at, end.at) }
  const slack = start.touching + end.touching
  const behind = { ...audit, window: { from: to, to: window.to }, quarantined: holdings.quarantined }
  const fresh = isUpToNow && to < window.to ? (await compareRange(behind, deps, meter)).missing : 0
  const sourceRows = isEmptyWindow(window) ? 0 : (await totalOf(window, sides)) - fresh
  const held = await holdings.count(window)
  // What has no time that could be read lies somewhere in the whole; in a part of it, it would stand in for rows that are missing.
  const untimed = audit.isWhole ? (await holdings.count()).rows : 0
  const isEqual = Math.abs(sourceRows - held.rows - untimed) <= slack
  const counted = { window, sourceRows, heldRows: held.rows, slack }
  const found = await readSuspects(isEqual ? [] : await narrow(counted, sides, { cuts: 0 }), sides)
  const blur = `counted to within ${slack} rows: near its ends is no minute that no row touches`
  const inside = {
    ...found,
    window,
    sourceRows,
    warehouseRows: held.rows + (isEqual ? untimed : 0),
    quarantinedRows: held.quarantined,
    notes: [...found.notes, ...(slack > 0 && isEqual ? [blur] : [])],
  }
  const readEdge = async (edge: Window) =>
    isEmptyWindow(edge) ? [] : [await compareByReading(audit, edge, holdings, deps, meter)]
  const before = await readEdge({ from, to: window.from })
  return mergeComparisons([...before, inside, ...(await readEdge({ from: window.to, to }))])
}

/** Reads every row of a range, and holds it against what is here. */
export async function compareByReading(
  { stream, partition }: Pick<Sides['audit'], 'stream' | 'partition'>,
  window: Window,
  { quarantined, count }: Holdings,
  deps: RunDeps,
  meter: CallMeter,
): Promise<Comparison> {
  const { differences, notes, hasMoved } = await compareRange({ stream, partition, window, quarantined }, deps, meter)
  const held = await count(window)
  const more = differences.reduce((sum, { kind, rows }) => sum + (kind === 'surplus' ? -rows : rows), 0)
  return {
    verdict: differences.length > 0 ? 'different' : hasMoved ? 'moving' : 'equal',
    window,
    sourceRows: held.rows + more,
    warehouseRows: held.rows,
    quarantinedRows: held.quarantined,
    differences,
    notes,
  }
}

async function totalOf(window: Window, { audit: { stream, partition }, deps, meter }: Sides): Promise<number> {
  return (await askTotal({ stream, partition, window }, deps, meter)) ?? 0
}

/**
 * Halves a range that differs until what differs is small. A range of which the warehouse holds nothing is named as a whole. What
 * cancels out within a half is not seen. @returns oldest first
 */
async function narrow(range: CountedRange, sides: Sides, asked: { cuts: number }): Promise<readonly CountedRange[]> {
  const { window, sourceRows, heldRows, slack } = range
  if (Math.abs(sourceRows - heldRows) <= slack) return []
  const isSmall = sourceRows <= SMALL_ROWS && heldRows <= SMALL_ROWS
  if (isSmall || heldRows === 0 || asked.cuts >= MOST_CUTS) return [range]
  const at = await middleOf(range, sides)
  if (at === undefined) return [range]
  asked.cuts++
  const [older, newer] = [
    { from: window.from, to: at },
    { from: at, to: window.to },
  ]
  const before = await totalOf(older, sides)
  const heldBefore = (await sides.holdings.count(older)).rows
  return [
    ...(await narrow({ window: older, sourceRows: before, heldRows: heldBefore, slack }, sides, asked)),
    ...(await narrow(
      { window: newer, sourceRows: sourceRows - before, heldRows: heldRows - heldBefore, slack },
      sides,
      asked,
    )),
  ]
}

/** A minute inside of a range that no row touches, near the middle of its rows. */
async function middleOf({ window, heldRows }: CountedRange, { holdings }: Sides): Promise<number | undefined> {
  const middle = await holdings.minuteAt(window, Math.floor(heldRows / 2))
  if (middle === undefined) return undefined
  const near = { from: Math.max(window.from, middle - DAY), to: Math.min(window.to, middle + DAY) }
  const { at, touching } = await holdings.quietMinute(near, middle)
  return touching === 0 && at > window.from && at < window.to ? at : undefined
}

/** Reads what is small enough, and names the rest by its count. */
async function readSuspects(
  suspects: readonly CountedRange[],
  { audit, holdings, deps, meter }: Sides,
): Promise<Pick<Comparison, 'verdict' | 'differences' | 'notes'>> {
  const differences: Difference[] = []
  const notes = new Set<string>()
  let hasMoved = false
  for (const { window, sourceRows, heldRows } of suspects) {
    const rows = sourceRows - heldRows
    const most = mayStillChange({ ...audit, window }, deps) ? MOST_UNSETTLED_ROWS : SMALL_ROWS
    if (sourceRows > most) {
      differences.push({ kind: 'count', rows, window })
      continue
    }
    const { stream, partition } = audit
    const found = await compareRange({ stream, partition, window, quarantined: holdings.quarantined }, deps, meter)
    differences.push(...found.differences)
    for (const note of found.notes) notes.add(note)
    if (found.hasMoved) hasMoved = true
    if (rows !== 0 && found.differences.length + found.notes.length === 0 && !found.hasMoved)
      notes.add(
        `counts differ by ${Math.abs(rows)} where every row agrees: rows without a readable time, unreadable items that the source has repaired, or a list that moved`,
      )
  }
  const verdict = differences.length > 0 ? 'different' : hasMoved ? 'moving' : 'equal'
  return { verdict, differences, notes: [...notes] }
}

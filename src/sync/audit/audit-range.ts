import { isEmptyWindow, type Partition, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { DAY, MINUTE } from '../../core/wall-clock.ts'
import type { QuietMinute } from '../../store/table-part.ts'
import type { CallMeter, RunDeps } from '../slice-work.ts'
import { compareRange, mayStillChange, newestOf } from './compare-range.ts'
import type { Holdings } from './holdings.ts'
import { askTotal, type Comparison, type Difference, mergeComparisons } from './partition-audit.ts'

/** A range of no more rows is small enough to be read, and its rows to be named. */
const SMALL_ROWS = 300
/**
 * Rows that are read at most: of what lies outside of what can be counted, and of the last days, where rows come and change by
 * themselves, in a live channel hundreds at once. Also how many of the warehouse are held against what was read.
 */
const MOST_READ_ROWS = 20_000
/** Calls by which a difference is narrowed down in a partition; what is left then is named by its count. */
const MOST_CUTS = 40

/** A range that has been counted on both sides. */
interface CountedRange {
  readonly window: Window
  readonly sourceRows: number
  readonly heldRows: number
  /** So many rows touch its beginning, and its end: it is not known on which side of them the service counts these. */
  readonly slack: Window
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
 * outside of them is read. Where the counts differ, the range is halved at such minutes until it is small, and read. What is no
 * larger than what touches its ends, or has no readable time, is `unverifiable`: the count does not show it.
 */
export async function auditRange(range: Window, sides: Sides): Promise<Comparison> {
  const { audit, holdings, deps, meter } = sides
  const { to } = range
  const start = await quietMinuteAt('from', range, sides)
  const end = start.at < to ? await quietMinuteAt('to', range, sides) : start
  const window = { from: start.at, to: Math.max(start.at, end.at) }
  const isEmpty = isEmptyWindow(window)
  const slack = isEmpty ? { from: 0, to: 0 } : { from: start.touching, to: end.touching }
  const behind = { ...audit, window: { from: to, to: window.to }, quarantined: holdings.quarantined }
  // What is new since the last reading is not here yet.
  const fresh = to < window.to ? (await compareRange(behind, deps, meter)).missing : 0
  const sourceRows = isEmpty ? 0 : (await totalOf(window, sides)) - fresh
  const held = await holdings.count(window)
  // What has no time that could be read lies somewhere in the whole; in a part of it, it would stand in for rows that are missing.
  const untimed = audit.isWhole ? (await holdings.count()).rows : 0
  const counted = { window, sourceRows, heldRows: held.rows, slack }
  const isEqual = isWithinSlack({ ...counted, heldRows: held.rows + untimed })
  const suspects = isEqual ? [] : await narrow(counted, sides, { cuts: 0 })
  const found = await readSuspects(suspects, sides)
  const blurred = slack.from + slack.to
  const isShown = blurred === 0 && (isEqual || suspects.length > 0)
  const blur = `counted to within ${blurred + untimed} rows: so many touch its ends, or have no time that could be read`
  const inside: Comparison = {
    ...found,
    verdict: found.verdict === 'equal' && !isShown ? 'unverifiable' : found.verdict,
    window,
    sourceRows,
    warehouseRows: held.rows + (isEqual ? untimed : 0),
    quarantinedRows: held.quarantined,
    notes: [...found.notes, ...(isShown ? [] : [blur])],
  }
  const readEdge = async (edge: Window) =>
    isEmptyWindow(edge) ? [] : [await compareByReading(audit, edge, holdings, deps, meter)]
  const before = await readEdge({ from: range.from, to: window.from })
  return mergeComparisons([...before, inside, ...(await readEdge({ from: window.to, to: range.to }))])
}

/**
 * From, or up to, which minute a range is counted: the one within a day of its end that no row touches; of the last days
 * now, where no row touches that; or the closest one further in, or the other end where there is none, if what lies
 * outside is little enough to be read; else the one within a day that fewest rows touch.
 */
async function quietMinuteAt(end: keyof Window, range: Window, sides: Sides): Promise<QuietMinute> {
  const { audit, deps } = sides
  const { quietMinute, count } = sides.holdings
  const near = range[end]
  const day = { from: Math.max(range.from, near - DAY), to: Math.min(range.to, near + DAY) }
  const nearby = await quietMinute(day, near)
  if (nearby.touching === 0) return nearby
  if (end === 'to' && mayStillChange({ ...audit, window: range }, deps)) {
    const now = Math.max(range.to, newestOf(deps))
    const upToNow = await quietMinute({ from: now, to: now }, now)
    if (upToNow.touching === 0) return upToNow
  }
  const { at, touching } = await quietMinute(range, near)
  const last = touching === 0 ? at : range[end === 'from' ? 'to' : 'from']
  const outside = { from: Math.min(near, last), to: Math.max(near, last) }
  const rows = Math.max(await totalOf(outside, sides), (await count(outside)).rows)
  return rows <= MOST_READ_ROWS ? { at: last, touching: 0 } : nearby
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
  if (isWithinSlack(range)) return []
  const isSmall = sourceRows <= SMALL_ROWS && heldRows <= MOST_READ_ROWS
  if (isSmall || heldRows === 0 || asked.cuts >= MOST_CUTS) return [range]
  const at = await middleOf(range, sides)
  if (at === undefined) return [range]
  asked.cuts++
  const older = { from: window.from, to: at }
  const before = await totalOf(older, sides)
  const heldBefore = (await sides.holdings.count(older)).rows
  // No row touches the minute between them.
  const halves: readonly CountedRange[] = [
    { window: older, sourceRows: before, heldRows: heldBefore, slack: { from: slack.from, to: 0 } },
    {
      window: { from: at, to: window.to },
      sourceRows: sourceRows - before,
      heldRows: heldRows - heldBefore,
      slack: { from: 0, to: slack.to },
    },
  ]
  const found: CountedRange[] = []
  for (const half of halves) found.push(...(await narrow(half, sides, asked)))
  return found
}

function isWithinSlack({ sourceRows, heldRows, slack }: CountedRange): boolean {
  return Math.abs(sourceRows - heldRows) <= slack.from + slack.to
}

/** The minute inside of a range that no row touches which is closest to the middle of its rows. */
async function middleOf({ window, heldRows }: CountedRange, { holdings }: Sides): Promise<number | undefined> {
  const middle = await holdings.minuteAt(window, Math.floor(heldRows / 2))
  const inside = { from: window.from + MINUTE, to: window.to - MINUTE }
  if (middle === undefined || inside.from > inside.to) return undefined
  const { at, touching } = await holdings.quietMinute(inside, middle)
  return touching === 0 ? at : undefined
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
    const most = mayStillChange({ ...audit, window }, deps) ? MOST_READ_ROWS : SMALL_ROWS
    if (sourceRows > most || heldRows > MOST_READ_ROWS) {
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

import { isEmptyWindow, type Partition, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { MINUTE } from '../../core/wall-clock.ts'
import type { CallMeter, RunDeps } from '../slice-work.ts'
import { compareRange } from './compare-range.ts'
import { type Held, type Holdings, openHoldings } from './holdings.ts'
import { mayStillChange } from './judge-rows.ts'
import {
  differenceOf,
  narrowDifference,
  openSourceCounts,
  SMALL_ROWS,
  type SourceCounts,
  type Suspect,
} from './narrow-difference.ts'
import { type Comparison, type Difference, nothingCompared } from './partition-audit.ts'

export interface RangesAudit {
  readonly stream: Stream
  readonly partition: Partition
  /** What is covered of what was asked for, oldest first. */
  readonly covered: readonly Window[]
  /** Whether that is all that is covered of the partition: then what has no readable time lies in it. */
  readonly isWhole: boolean
  /** By which of its times the service counts a row, asked for only where it makes a difference; undefined where that does not show. */
  readonly learnColumn: () => Promise<string | undefined>
}

/** Ranges with a gap between them that are compared; the newest ones. */
const MOST_RANGES = 10
/**
 * Of the last days as many: there rows come and change by themselves, in a live channel hundreds at once, and only by reading them
 * is that told from a loss.
 */
const MOST_UNSETTLED_ROWS = 20_000
/** Narrowed ranges that are read. */
const MOST_READ = 20

/**
 * Compares a time-filtered list that tells its total: what is covered, counted at the source and here. Where the counts differ, the
 * difference is narrowed down, and what is left is read and compared row by row.
 */
export async function auditRanges(audit: RangesAudit, deps: RunDeps, meter: CallMeter): Promise<Comparison> {
  const { stream, partition, covered } = audit
  const ranges = covered.slice(-MOST_RANGES)
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) return nothingCompared
  const holdings = await openHoldings(deps.db, stream, partition, deps.timeZone)
  const counts = openSourceCounts(stream, partition, first.from - MINUTE, deps, meter)
  const sides: Sides = { audit, holdings, counts, deps, meter }
  const window = { from: first.from, to: last.to }
  const skipped = covered.length - ranges.length
  const notes = [
    ...(covered.length === 1
      ? []
      : [`${covered.length - 1} gaps between are not covered, so nothing is claimed of them`]),
    ...(skipped === 0 ? [] : [`${skipped} older ranges between gaps were not compared`]),
  ]

  const quick = ranges.length === 1 ? await compareOnce(window, sides) : undefined
  if (quick !== undefined) return { ...quick, window, notes }
  const column = (await audit.learnColumn()) ?? stream.timeColumns[0] ?? ''
  const parts: Comparison[] = []
  for (const range of ranges) parts.push(await comparePrecisely(range, column, sides))
  return mergeComparisons(parts, window, notes)
}

interface Sides {
  readonly audit: RangesAudit
  readonly holdings: Holdings
  readonly counts: SourceCounts
  readonly deps: RunDeps
  readonly meter: CallMeter
}

/** One call, where it settles the matter; undefined where it does not. */
async function compareOnce({ from, to }: Window, { audit, holdings, counts }: Sides): Promise<Comparison | undefined> {
  // As the first slice asked: a minute before, so that what lies at the very beginning counts on both sides.
  const wide = { from: from - MINUTE, to }
  const total = await counts.total(wide)
  if (total === undefined) return undefined
  const columns = audit.stream.timeColumns
  const held: Held[] = []
  for (const column of columns) {
    const { rows, quarantined } = await holdings.count(column, wide)
    // What has no time that could be read lies somewhere in the whole; in a part of it, it would stand in for rows that are missing.
    const untimed = audit.isWhole ? await holdings.count(column) : { rows: 0, quarantined: 0 }
    held.push({ rows: rows + untimed.rows, quarantined: quarantined + untimed.quarantined })
  }
  const areEqual = held.map(({ rows }) => rows === total)
  if (!areEqual.includes(true)) return undefined
  const column = areEqual.includes(false) ? await audit.learnColumn() : columns[0]
  const counted = held[column === undefined ? areEqual.indexOf(true) : columns.indexOf(column)]
  if (counted?.rows !== total) return undefined
  const quarantinedRows = counted.quarantined
  return { ...nothingCompared, verdict: 'equal', sourceRows: total, warehouseRows: total, quarantinedRows }
}

async function comparePrecisely(range: Window, column: string, sides: Sides): Promise<Comparison> {
  const { holdings, counts } = sides
  // Where a count is not exact at an edge, it is taken some minutes within, and those minutes are read: none is added that is not covered.
  const [from, to] = [await counts.before(range.from, 'later'), await counts.before(range.to, 'earlier')]
  const timed = await holdings.count(column, { from: from.at, to: to.at })
  const suspects = await narrowDifference(from, to, column, sides)
  const sourceRows = timed.rows + differenceOf(from, to, timed.rows)
  const edges = [
    { from: range.from, to: from.at },
    { from: to.at, to: range.to },
  ].flatMap((edge) => (isEmptyWindow(edge) ? [] : [{ window: edge, sourceRows: 0, rows: 0 }]))
  const found = await examine([...suspects, ...edges], column, sides)
  const slack = to.most - to.fewest + from.most - from.fewest
  const blur = `counted to within ${slack} rows: it is not known whether the service's filter includes its end`
  // Of what the source has more, rows without a readable time are here as well, but for those that are named as missing.
  const missing = found.differences.reduce((sum, each) => sum + (each.kind === 'missing' ? each.rows : 0), 0)
  const untimed = Math.min((await holdings.count(column)).rows, Math.max(0, sourceRows - timed.rows - missing))
  const counted = { sourceRows, warehouseRows: timed.rows + untimed, quarantinedRows: timed.quarantined }
  return { ...counted, window: range, ...found, notes: [...found.notes, ...(slack > 0 ? [blur] : [])] }
}

/** Reads what is small enough, and names the rest by its count. */
async function examine(
  suspects: readonly Suspect[],
  column: string,
  { audit, holdings, deps, meter }: Sides,
): Promise<Pick<Comparison, 'verdict' | 'differences' | 'notes'>> {
  const { stream, partition } = audit
  const differences: Difference[] = []
  const notes = new Set<string>()
  let hasMoved = false
  let left = MOST_READ
  for (const { window, sourceRows, rows } of suspects.toReversed()) {
    const most = mayStillChange({ stream, window }, deps) ? MOST_UNSETTLED_ROWS : SMALL_ROWS
    if (sourceRows > most || left === 0) {
      differences.push({ kind: 'count', rows, window })
      continue
    }
    left--
    const range = { stream, partition, window, column, quarantined: holdings.quarantined }
    const found = await compareRange(range, deps, meter)
    differences.push(...found.differences)
    for (const note of found.notes) notes.add(note)
    if (found.hasMoved) hasMoved = true
    if (rows !== 0 && found.differences.length + found.notes.length === 0 && !found.hasMoved)
      notes.add(
        `counts differ by ${Math.abs(rows)} where every row agrees: rows without a readable time, unreadable items that the source has mended, or a list that moved`,
      )
  }
  const verdict = differences.length > 0 ? 'different' : hasMoved ? 'moving' : 'equal'
  return { verdict, differences: differences.toReversed(), notes: [...notes] }
}

/** What parts of a partition have come to, together. */
export function mergeComparisons(
  parts: readonly Comparison[],
  window: Window,
  notes: readonly string[] = [],
): Comparison {
  const sum = (rows: readonly (number | undefined)[]) => rows.reduce<number>((total, each) => total + (each ?? 0), 0)
  const verdict = (['different', 'moving'] as const).find((each) => parts.some((part) => part.verdict === each))
  return {
    verdict: verdict ?? 'equal',
    window,
    sourceRows: sum(parts.map(({ sourceRows }) => sourceRows)),
    warehouseRows: sum(parts.map(({ warehouseRows }) => warehouseRows)),
    quarantinedRows: sum(parts.map(({ quarantinedRows }) => quarantinedRows)),
    differences: parts.flatMap(({ differences }) => differences),
    notes: [...new Set([...notes, ...parts.flatMap((part) => part.notes)])],
  }
}

import { jsonText } from '../../core/json-text.ts'
import { partitionKey, type Window } from '../../core/slice.ts'
import { formatWallDate, MINUTE, wallTimeAt } from '../../core/wall-clock.ts'
import { hashItem, readQuarantined } from '../../ledger/quarantine.ts'
import { compareRows } from '../../store/compare-rows.ts'
import { rowKeyColumn } from '../../store/table-part.ts'
import type { RunDeps } from '../slice-work.ts'
import { compareRange } from './compare-range.ts'
import { openHoldings } from './holdings.ts'
import { hasTimes, type JudgedRows, judgeRows } from './judge-rows.ts'
import type { LearnColumn } from './learn-filter-column.ts'
import type { Difference, OpenAudit } from './partition-audit.ts'

/** What comparing random pages has shown; the differences are with their partitions. */
export interface PagesComparison {
  readonly seed: number
  readonly pages: number
  /** Of so many. */
  readonly of: number
  readonly rows: number
}

/** A list whose pages can be compared. */
interface Part {
  readonly audit: OpenAudit
  readonly pages: number
  /** What is covered of a list with times, and by which of them its rows belong to it; undefined for a whole list. */
  readonly window: Window | undefined
  readonly column: string | undefined
}

interface ComparedPage extends JudgedRows {
  readonly rows: number
}

/** Compares random pages of what has been compared by count, field by field, and adds what differs to it. */
export async function comparePages(
  audits: readonly OpenAudit[],
  { pages, seed }: { readonly pages: number; readonly seed: number },
  deps: RunDeps,
  learnColumn: LearnColumn,
): Promise<PagesComparison> {
  const parts: Part[] = []
  for (const audit of audits) parts.push(...(await partsOf(audit, deps, learnColumn)))
  const total = parts.reduce((sum, part) => sum + part.pages, 0)
  const chosen = choosePages(total, pages, seed)
  let rows = 0
  let begin = 0
  for (const part of parts) {
    const end = begin + part.pages
    for (const number of chosen.filter((each) => each >= begin && each < end)) {
      const { audit } = part
      if (deps.signal.aborted || audit.error !== undefined) break
      try {
        const page =
          part.window === undefined
            ? await compareListPage(audit, number - begin + 1, deps)
            : await compareRangeOfPage(part, part.window, number - begin, deps)
        addDifferences(audit, page)
        rows += page.rows
      } catch (error) {
        audit.error = error
      }
    }
    begin = end
  }
  return { seed, pages: chosen.length, of: total, rows }
}

/** Of lists with times the pages that are held here; of others as many as the source counts. */
async function partsOf(audit: OpenAudit, deps: RunDeps, learnColumn: LearnColumn): Promise<readonly Part[]> {
  const { task, comparison, meter } = audit
  const { stream, partition, covered } = task
  const pagesFor = (rows: number) => Math.max(1, Math.ceil(rows / stream.pageSize))
  if (comparison === undefined || comparison.verdict === 'unread') return []
  if (covered === undefined) {
    const { sourceRows } = comparison
    return sourceRows === undefined
      ? []
      : [{ audit, window: undefined, column: undefined, pages: pagesFor(sourceRows) }]
  }
  const column = await learnColumn(stream, meter)
  const { count } = await openHoldings(deps.db, stream, partition, deps.timeZone)
  const parts: Part[] = []
  for (const window of covered) {
    const { rows } = await count(column ?? stream.timeColumns[0] ?? '', window)
    parts.push({ audit, window, column, pages: pagesFor(rows) })
  }
  return parts
}

/**
 * Compares the range that holds a page's worth of rows here: read as a whole, so that rows without an id can be told, and rows that
 * are missing on either side show.
 */
async function compareRangeOfPage(
  { audit, pages, column }: Part,
  whole: Window,
  place: number,
  deps: RunDeps,
): Promise<ComparedPage> {
  const { stream, partition } = audit.task
  const { minuteAt, quarantined } = await openHoldings(deps.db, stream, partition, deps.timeZone)
  const beginOf = async (page: number) => {
    if (page === 0 || page === pages) return page === 0 ? whole.from : whole.to
    return (await minuteAt(column ?? stream.timeColumns[0] ?? '', whole, page * stream.pageSize)) ?? whole.to
  }
  const [from, to] = [await beginOf(place), await beginOf(place + 1)]
  const window = { from, to: Math.max(to, from + MINUTE) }
  return await compareRange({ stream, partition, window, column, quarantined }, deps, audit.meter)
}

async function compareListPage({ task, meter }: OpenAudit, page: number, deps: RunDeps): Promise<ComparedPage> {
  const { stream, partition } = task
  const { db, timeZone } = deps
  const serviceDay = formatWallDate(wallTimeAt(deps.clock.now(), timeZone))
  const readItem = deps.openItemReader(stream, { partition, serviceDay })
  const request = { list: { stream, partition }, page, pageSize: stream.pageSize }
  const answer = await deps.fetchPage(request, { signal: deps.signal, onAttempt: meter.onAttempt })
  const items = await readQuarantined(db, stream.name, partitionKey(partition))
  const quarantined = new Set(items.map(({ hash }) => hash))
  // The losers of known duplicates are in quarantine as they came.
  const fresh = answer.items.filter((item) => !quarantined.has(hashItem(jsonText(item))))
  const read = fresh.map((item) => readItem(item, answer)).flatMap((each) => (each.kind === 'row' ? [each.row] : []))
  const rows = [...new Map(read.map((row) => [String(row[rowKeyColumn(stream)]), row])).values()]
  const range = { stream, partition, window: undefined, column: undefined, quarantined }
  // What is missing of a list without times has been told by its number.
  const judged = await judgeRows(await compareRows(db, stream, rows, timeZone), range, deps, !hasTimes(stream))
  return { ...judged, rows: rows.length }
}

/** A row may have been found by its count already, or lie on two pages. */
function addDifferences(audit: OpenAudit, { differences, notes }: ComparedPage): void {
  const { comparison } = audit
  if (comparison === undefined) return
  const fresh = differences.filter((each) => !comparison.differences.some((known) => describesSame(known, each)))
  audit.comparison = {
    ...comparison,
    verdict: fresh.length > 0 ? 'different' : comparison.verdict,
    differences: [...comparison.differences, ...fresh],
    notes: [...new Set([...comparison.notes, ...notes])],
  }
}

/** Whether one difference says what another has said: rows may be found by their count and by their values. */
function describesSame(known: Difference, other: Difference): boolean {
  if (known.kind === 'changed' || other.kind === 'changed')
    return known.kind === 'changed' && other.kind === 'changed' && known.key === other.key
  if (known.kind !== other.kind) return false
  return !('keys' in known && 'keys' in other) || other.keys.every((key) => known.keys.includes(key))
}

/**
 * `count` different numbers from 0 to `total` - 1, in order; all of them where there are no more. The same seed chooses the same.
 */
export function choosePages(total: number, count: number, seed: number): readonly number[] {
  if (count >= total) return Array.from({ length: total }, (_, index) => index)
  const random = randomOf(seed)
  const chosen = new Set<number>()
  // Floyd's way: as many draws as numbers, however many there are to choose from.
  for (let bound = total - count; bound < total; bound++) {
    const number = Math.floor(random() * (bound + 1))
    chosen.add(chosen.has(number) ? bound : number)
  }
  return [...chosen].sort((a, b) => a - b)
}

/** Numbers in [0, 1) by mulberry32: no matter of secrets, only of choosing again what was chosen. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

import { jsonText } from '../../core/json-text.ts'
import { type Partition, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { formatWallDate, MINUTE, wallTimeAt } from '../../core/wall-clock.ts'
import { hashItem, readQuarantined } from '../../ledger/quarantine.ts'
import { compareRows } from '../../store/compare-rows.ts'
import { rowKeyColumn } from '../../store/table-part.ts'
import type { CallMeter } from '../call-meter.ts'
import type { RunDeps } from '../slice-work.ts'
import { hasTimes } from './changed-since.ts'
import { compareRange } from './compare-range.ts'
import { openHoldings } from './holdings.ts'
import { type JudgedRows, judgeRows } from './judge-rows.ts'

/** A list whose pages can be compared: its number of pages, and what is covered of one with times. */
export interface PagedPart {
  readonly stream: Stream
  readonly partition: Partition
  /** Undefined for a whole list. */
  readonly window: Window | undefined
  readonly pages: number
  /** By which rows belong to a window. */
  readonly column: string | undefined
}

export interface ComparedPage extends JudgedRows {
  readonly rows: number
}

/**
 * Compares one page's worth of rows value by value. Of a list with times that is the range that holds as many rows here: read as a
 * whole, so that rows without an id can be told, and rows that are missing on either side show.
 */
export async function comparePage(
  part: PagedPart,
  place: number,
  deps: RunDeps,
  meter: CallMeter,
): Promise<ComparedPage> {
  if (part.window === undefined) return await compareListPage(part, place + 1, deps, meter)
  const { stream, partition, column } = part
  const holdings = await openHoldings(deps.db, stream, partition, deps.timeZone)
  const window = await windowOfPage(part, part.window, place, holdings.minuteAt)
  return await compareRange({ stream, partition, window, column, quarantined: holdings.quarantined }, deps, meter)
}

async function windowOfPage(
  { stream, pages, column = stream.timeColumns[0] ?? '' }: PagedPart,
  whole: Window,
  place: number,
  minuteAt: (column: string, window: Window, place: number) => Promise<number | undefined>,
): Promise<Window> {
  const bound = async (page: number) => (await minuteAt(column, whole, page * stream.pageSize)) ?? whole.to
  const from = place === 0 ? whole.from : await bound(place)
  const to = place === pages - 1 ? whole.to : await bound(place + 1)
  return { from, to: Math.max(to, from + MINUTE) }
}

async function compareListPage(
  { stream, partition }: PagedPart,
  page: number,
  deps: RunDeps,
  meter: CallMeter,
): Promise<ComparedPage> {
  const { db, timeZone } = deps
  const serviceDay = formatWallDate(wallTimeAt(deps.clock.now(), timeZone))
  const readItem = deps.openItemReader(stream, { partition, serviceDay })
  const request = { list: stream.request(partition, undefined), page, pageSize: stream.pageSize }
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

import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Cell, ColumnType, Row } from '../core/column.ts'
import type { Page } from '../core/page.ts'
import type { RowIdentity, Stream } from '../core/stream.ts'
import { exactJson, itemText, jsonText } from '../core/text.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import type { RowLoader } from './batch-loader.ts'
import { isConclusive, judgeWalk, MAX_WALKS, MAX_WALKS_TOGETHER } from './judge-walk.ts'
import type { UnkeyedWalk } from './read-list.ts'
import { isUnchanged, largestPage, readBareList, readCountedList, sizeOfWalk } from './read-list.ts'
import { mayBeSearched, tooYoungFrom } from './slice-parts.ts'
import { MIN_ROWS, type SliceReading } from './slice-reading.ts'
import type { Extraction, Requests, Verdict, WalkSummary } from './slice-work.ts'
import { declaredText, rejectStrays, rowsOf, startWalk } from './walk.ts'
import { liesWithin, mayBeHalved, minuteOf, minutesOf } from './windows.ts'

/**
 * The result of reading a slice whose rows have no id.
 * `keepsMoving`: the list moved in each walk and is longer than one answer, or nothing shows where it ends.
 * `unread`: the end of the list was not reached.
 */
type UnkeyedResult =
  | (Extraction & { readonly keepsMoving: boolean })
  | (Pick<Extraction, 'minutes'> & {
      readonly kind: 'unread'
      readonly cause: NonNullable<UnkeyedWalk['unread']>
      readonly isOneAnswer: boolean
    })

/**
 * Reads a slice whose rows have no id into memory, walk by walk until one is clean, and only then passes the rows to
 * `loader`. Otherwise a row that came twice because the list moved would stay two rows for ever.
 */
export async function extractUnkeyed(
  reading: SliceReading,
  identity: RowIdentity,
  loader: RowLoader,
  mostPages: number,
): Promise<UnkeyedResult> {
  const { slice } = reading
  const { stream, window } = slice
  const compare = compareWalks(stream, identity)
  let previousContents: readonly string[] | undefined
  let { pageSize } = reading.requests
  let served = 0

  for (let attempt = 1; ; attempt++) {
    if (attempt > 1) pageSize = await reading.tryPageSize(pageSize, attempt)
    const atSize = { ...reading, requests: { ...reading.requests, pageSize } }
    const walk: UnkeyedWalk = stream.isCounted
      ? await readCountedList(atSize, mayBeSearched(slice))
      : await readBareList(atSize, mostPages)
    const { unread, isEndUnknown } = walk
    const isClean = walk.doubt === undefined && unread === undefined
    const believed = isClean ? await compare(atSize.requests, walk.pages) : walk.pages
    const doubt = believed === undefined ? 'some rows came on two pages, but not at another page size' : walk.doubt
    if (believed === undefined) {
      served = Math.max(served, largestPage(walk.pages))
      pageSize = sizeOfWalk(served, attempt + 1, stream.isCounted ? 1 : Math.min(MIN_ROWS, Math.ceil(served / 2)))
    }
    const read = await readRows(reading, identity, believed ?? walk.pages)
    const { minutes, sliceRows, summary } = read
    const isOneAnswer = walk.pages.length < 2 && summary.received < reading.requests.pageSize
    if (unread !== undefined) return { kind: 'unread', cause: unread, isOneAnswer, minutes }
    const isEndReached = doubt !== undefined && !stream.isCounted && isEndUnknown !== true
    const contents = isEndReached ? sliceRows.map(declaredText).sort() : undefined
    // If two successive walks reached the end and hold the same rows of the window, none of them twice, then the list
    // moved only outside of the window, in the minutes that are requested in addition.
    const isSame = isDeepStrictEqual(contents, previousContents) && new Set(contents).size === contents?.length
    const verdict = judgeWithDoubt(summary, isSame ? undefined : doubt)
    previousContents = contents
    // If nothing shows the end of this list, the ends of its shorter parts may show.
    const keepsMoving = verdict.proof === 'moving' && (!isOneAnswer || isEndUnknown === true)
    // If some rows are too young to be covered, the others are read apart from them first.
    const hasYoungRows = keepsMoving && tooYoungFrom(slice) !== undefined
    if (!isConclusive(verdict) && attempt < MAX_WALKS && !hasYoungRows) continue
    if (believed === undefined && !isConclusive(verdict) && !mayBeHalved(window) && attempt < MAX_WALKS_TOGETHER)
      continue

    const hasKeys = isConclusive(verdict) || (verdict.proof === 'short' && doubt === undefined)
    const identified = hasKeys ? identifyRows(stream, identity, sliceRows, reading.deps.timeZone) : []
    if (isConclusive(verdict)) await loader.add(identified)
    // A list that moved has a count, but no keys.
    const keys = new Set(identified.map((row) => String(row[identity.keyColumn])))
    return {
      kind: 'read',
      summary,
      verdict,
      minutes,
      keepsMoving,
      found: { count: sliceRows.length, has: (key: string) => keys.has(key) },
      unproven: isConclusive(verdict) ? [] : identified,
      pageSize: walk.pages.length > 1 ? largestPage(walk.pages) : undefined,
      title: hasKeys ? read.title : undefined,
    }
  }
}

/** Reads the items of a list into rows. `sliceRows`: those of the window; `title`: the headers as JSON text. */
async function readRows(reading: SliceReading, identity: RowIdentity, pages: readonly Page[]) {
  const { stream, window } = reading.slice
  const { timeZone } = reading.deps
  const requested = reading.requests.list.window ?? { from: -Infinity, to: Infinity }
  const walk = startWalk(stream, rejectStrays(reading.readItem, identity.timeColumn, requested, timeZone))
  for (const page of pages) await reading.requireFiltered(rowsOf(page, reading.readItem))
  const rows = pages.flatMap(walk.add)
  const title = pages.find(({ title: headers }) => headers?.length)?.title
  return {
    summary: walk.summary(),
    minutes: minutesOf(rows, stream, timeZone),
    sliceRows: rows.filter((row) => !window || liesWithin(row, [identity.timeColumn], window, timeZone)),
    title: title && headersText(title),
  }
}

/** Judges a walk by itself. A doubtful one counts as one over a list that moved. */
function judgeWithDoubt(summary: WalkSummary, doubt: string | undefined): Verdict {
  const verdict = judgeWalk(summary)
  return isConclusive(verdict) && doubt !== undefined ? { proof: 'moving', reason: doubt } : verdict
}

/**
 * Compares clean walks over one list without ids, each at another page size.
 *
 * Equal items on two pages are either two items, or one item that came twice while another did not come: the list moved
 * between two pages, or it is sorted by a value that is not unique, and the service orders equal rows anew on each
 * page. So a walk with such items is believed only if the previous one held the same items (at another page size, if
 * some on two pages are equal in every value), or if all walks together hold as many items as came in each. In that
 * sum, an item counts as often as it occurs on the page that has it most often, and the pages with items that the last
 * walk lacks must be unchanged, because an item that has changed since would count twice.
 * @returns a function that takes the next walk and returns the pages of the list, or undefined if it is not believed
 */
function compareWalks(stream: Stream, { of }: RowIdentity) {
  /** Cells (API 4.11) are known by the values that never change, because they may be edited between two pages. */
  const keyOf = (item: unknown, { title }: Page) => {
    const read = stream.readItem?.(item, title)
    return read?.kind === 'fields' ? jsonText(of.map((name) => read.fields[name])) : textOf(item)
  }
  const textOf = (item: unknown) => itemText(stream, item)
  const checks = new Map<Page, () => Promise<boolean>>()
  let previousTexts: readonly string[] = []
  let previousSize = 0
  let union: Items = new Map()

  return async (requests: Requests, pages: readonly Page[]) => {
    for (const [index, page] of pages.entries())
      checks.set(page, async () => await isUnchanged(requests, index + 1, page))
    const own = collect(pages, new Map(), keyOf)
    const texts = pages.flatMap(({ items }) => items.map(textOf)).sort()
    union = texts.length === previousTexts.length ? collect(pages, union, keyOf) : own
    const unionItems = itemsOf(union)
    const size = largestPage(pages)
    const isSure = size !== previousSize || itemsOf(collect(pages, new Map(), textOf)).length === texts.length
    const isSame = isSure && isDeepStrictEqual(texts, previousTexts)
    previousTexts = texts
    previousSize = size
    const [first] = pages
    if (first === undefined || isSame || itemsOf(own).length === texts.length) return pages
    if (unionItems.length !== texts.length) return undefined
    const lacking = [...union].filter(([key, { items }]) => items.length > (own.get(key)?.items.length ?? 0))
    for (const page of new Set(lacking.map(([, { page: each }]) => each))) {
      if (await checks.get(page)?.()) continue
      union = own
      return undefined
    }
    return [{ ...first, items: unionItems }]
  }
}

/** Items by their key, each as often as the page that has it most often holds it, with that page. */
type Items = ReadonlyMap<string, { readonly items: readonly unknown[]; readonly page: Page }>

function collect(pages: readonly Page[], before: Items, keyOf: (item: unknown, page: Page) => string): Items {
  const collected = new Map(before)
  for (const page of pages)
    for (const [key, items] of Map.groupBy(page.items, (item) => keyOf(item, page)))
      if (items.length > (collected.get(key)?.items.length ?? 0)) collected.set(key, { items, page })
  return collected
}

function itemsOf(collected: Items): readonly unknown[] {
  return [...collected.values()].flatMap(({ items }) => items)
}

/**
 * Computes the key of rows without an id: a hash of their minute, of their other values that never change, and of their
 * number among the rows that share these, ordered by their seconds and then by the remaining values. So two equal gifts
 * of one second are two rows, a repeated reading adds none, and a phone or the seconds of a time that appear later
 * update a row in place. Pure. The order of `rows` does not matter, but all rows of a minute must be given together.
 */
export function identifyRows(
  stream: Stream,
  { of, timeColumn, keyColumn, occurrenceColumn }: RowIdentity,
  rows: readonly Row[],
  timeZone: string,
): readonly Row[] {
  const remaining = [...Object.keys(stream.columns), 'extra'].filter((name) => !of.includes(name))
  const others = of.filter((name) => name !== timeColumn)
  const groups = Map.groupBy(rows, (row) => {
    const minute = formatWallTime(minuteOf(row[timeColumn], timeZone) ?? 0).slice(0, 16)
    return [minute, ...others.map((name) => row[name] ?? '')].join('|')
  })
  return [...groups].flatMap(([shared, group]) => {
    const occurrences = new Map<Cell | undefined, number>()
    return group
      .sort((a, b) => compareBy([timeColumn, ...remaining], stream, a, b))
      .map((row, index) => {
        const occurrence = (occurrences.get(row[timeColumn]) ?? 0) + 1
        occurrences.set(row[timeColumn], occurrence)
        const key = hash('sha256', `${shared}#${index + 1}`).slice(0, 32)
        return { ...row, [keyColumn]: key, [occurrenceColumn]: occurrence }
      })
  })
}

/** Compares rows value by value, with NULL first. A JSON value is compared by the values inside it. */
function compareBy(names: readonly string[], stream: Stream, a: Row, b: Row): number {
  const [left, right] = [a, b].map((row) =>
    names.flatMap((name) => valuesOf(row[name] ?? null, stream.columns[name]?.type)),
  )
  for (const [index, value] of (left ?? []).entries()) {
    const other = right?.[index] ?? null
    if (value === other) continue
    if (value === null || other === null) return value === null ? -1 : 1
    return String(value) < String(other) ? -1 : 1
  }
  return 0
}

function valuesOf(cell: Cell, type: ColumnType | undefined): readonly Cell[] {
  if (typeof cell !== 'string' || type !== 'jsonb') return [cell]
  const values: Cell[] = []
  JSON.parse(cell, (_key, value: unknown) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      values.push(value)
    return value
  })
  return values
}

/** Headers as JSON text for Postgres. A header that is not text is replaced by its JSON text. */
export function headersText(title: readonly unknown[]): string {
  return exactJson(title.map((header) => (header === null || typeof header === 'string' ? header : jsonText(header))))
}

import { isDeepStrictEqual } from 'node:util'
import { cleanText } from '../core/clean-text.ts'
import type { Row } from '../core/column.ts'
import { jsonText } from '../core/json-text.ts'
import { describeList, type Page } from '../core/page.ts'
import type { RowIdentity } from '../core/stream.ts'
import type { BatchLoader } from './batch-loader.ts'
import { unsettledFrom } from './cut-slice.ts'
import { identifyRows } from './identify-rows.ts'
import { type Extraction, isSettled, judgeWalk, MOST_READINGS, type Verdict } from './judge-walk.ts'
import { largestPage, type SliceReading } from './page-reading.ts'
import { findChange, type IsTooLong, type ListReading, pagesOfTwins, readBareList } from './read-bare-list.ts'
import { readPages } from './read-pages.ts'
import { isInWindow, requireFiltered } from './row-window.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { startWalk, type WalkSummary } from './walk.ts'

/** What became of reading a slice whose rows have no id. */
export type UnkeyedReading =
  /** `isRestless`: it did not come to rest although it was read often enough, and its rows do not come in one answer. */
  | {
      readonly kind: 'read'
      readonly extraction: Extraction
      readonly isRestless: boolean
      readonly rows: readonly Row[]
    }
  /** Its end was not reached. `rows`: what has come of it, of the window or not. */
  | { readonly kind: 'unread'; readonly cause: NonNullable<ListReading['unread']>; readonly rows: readonly Row[] }

/**
 * Reads a slice whose rows have no id: the whole of it into memory, again until a reading is clean, and gives its rows to
 * `loader` only then. A row that came twice because the list moved would otherwise be a second row for ever.
 */
export async function extractUnkeyed(
  slice: Slice,
  identity: RowIdentity,
  reading: SliceReading,
  deps: RunDeps,
  loader: BatchLoader,
  isTooLong: IsTooLong,
): Promise<UnkeyedReading> {
  const { stream, window } = slice
  const { timeZone } = deps
  let earlier: readonly string[] | undefined

  for (let attempt = 1; ; attempt++) {
    const { pages, doubt, unread, isEndUnknown }: ListReading = stream.isCounted
      ? await readCountedList(reading)
      : await readList(reading, isTooLong)
    const walk = startWalk(stream, reading.readItem)
    const rows = pages.flatMap((page) => {
      const fresh = walk.add(page)
      if (reading.asked) requireFiltered(describeList(reading.pages.list), stream, fresh, reading.asked, timeZone)
      return fresh
    })
    if (unread !== undefined) return { kind: 'unread', cause: unread, rows }
    const kept = rows.filter((row) => window === undefined || isInWindow(row[identity.timeColumn], window, timeZone))
    const summary = walk.summary()
    const mayBeWhole = doubt !== undefined && !stream.isCounted && isEndUnknown !== true
    const contents = mayBeWhole ? kept.map(jsonText).sort() : undefined
    const verdict = judgeReading(summary, isSameOnceEach(contents, earlier) ? undefined : doubt)
    earlier = contents
    const isOneAnswer = pages.length < 2 && summary.received < reading.pages.pageSize
    const isRestless = verdict.proof === 'moving' && !isOneAnswer
    // Of a list with rows that are younger than settle, the others are read apart before they are read again.
    if (!isSettled(verdict) && attempt < MOST_READINGS && !(isRestless && unsettledFrom(slice) !== undefined)) continue

    const isWhole = isSettled(verdict) || (verdict.proof === 'short' && doubt === undefined)
    const identified = isWhole ? identifyRows(stream, identity, kept, timeZone) : []
    if (isSettled(verdict)) await loader.add(identified)
    const unproven = isSettled(verdict) ? [] : identified
    const title = isWhole ? pages.find(({ title: headers }) => headers?.length)?.title : undefined
    // A list that moved has a count, but no keys.
    const keys = new Set(identified.map((row) => String(row[identity.keyColumn])))
    const found = { count: kept.length, has: (key: string) => keys.has(key) }
    const known = { channelFacts: undefined, title: title && headersText(title) }
    const pageSize = pages.length > 1 ? largestPage(pages) : undefined
    const extraction = { summary, verdict, found, unproven, pageSize, ...known }
    return { kind: 'read', extraction, isRestless, rows }
  }
}

/**
 * Whether two readings in a row, both to the end of the list, hold the same rows of the window, none of them twice: what moved lies
 * beside it, in the minute more that is asked for.
 */
function isSameOnceEach(contents: readonly string[] | undefined, earlier: readonly string[] | undefined): boolean {
  return contents !== undefined && isDeepStrictEqual(contents, earlier) && new Set(contents).size === contents.length
}

/** As JSON text that Postgres takes: operators' free text, and what is no text as that of its JSON. */
function headersText(title: readonly unknown[]): string {
  return JSON.stringify(title.map((header) => cleanText(typeof header === 'string' ? header : jsonText(header))))
}

/** A doubt is a list that moved; without a total a clean reading is all that there can be. */
function judgeReading(summary: WalkSummary, doubt: string | undefined): Verdict {
  const verdict = judgeWalk(summary)
  return isSettled(verdict) && doubt !== undefined ? { proof: 'moving', reason: doubt } : verdict
}

async function readList({ pages, reportPage }: SliceReading, isTooLong: IsTooLong): Promise<ListReading> {
  return await readBareList(pages, (page) => reportPage(page.items.length, undefined), isTooLong)
}

/**
 * A list with a total. The count alone is no proof here: a repeated page beside a missing one would count right. So each
 * page must be named as the one that was asked for, under the same headers, and equal items on two pages are looked at again.
 */
async function readCountedList({ pages: reading, reportPage }: SliceReading): Promise<ListReading> {
  const pages: Page[] = []
  const doubts: string[] = []
  for await (const { number, page, lastPage } of readPages(reading)) {
    pages.push(page)
    reportPage(page.items.length, lastPage)
    if (page.items.length === 0) continue
    if (page.echoedPage !== number) doubts.push(`page ${number} was asked for, and page ${page.echoedPage ?? '?'} came`)
    if (!isDeepStrictEqual(page.title, pages[0]?.title))
      doubts.push(`the headers of page ${number} are not those of page 1`)
  }
  const doubt = doubts[0] ?? (await findChange(reading, pages, pagesOfTwins(pages)))
  return { pages, doubt }
}

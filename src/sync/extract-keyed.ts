import type { Row } from '../core/column.ts'
import type { ItemReader } from '../core/item.ts'
import { describeList, type Page } from '../core/page.ts'
import type { ChannelFacts, Stream } from '../core/stream.ts'
import { readDuplicates } from '../ledger/known-duplicates.ts'
import type { BatchLoader } from './batch-loader.ts'
import { type Extraction, isSettled, judgeWalks, keyField, losersOf, MOST_READINGS, winnersOf } from './judge-walk.ts'
import type { SliceReading } from './open-reading.ts'
import { fetchNumbered, fetchUnlessRefused, type PageReading } from './page-reading.ts'
import { readPages } from './read-pages.ts'
import { openFieldCheck } from './require-fields.ts'
import { liesWithin, requireFiltered } from './row-window.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { rowKey, startWalk, type Walk, type WalkSummary } from './walk.ts'

/**
 * Reads the pages of a slice whose rows have a key, walk by walk until one proves itself. Rows go to `loader` as they come:
 * to write a keyed row twice, or from a walk that proves nothing, does no harm. Only of keys that have come more than once the
 * rows are held back to the end of a walk, so that a row that is not the freshest is never written.
 */
export async function extractKeyed(
  slice: Slice,
  reading: SliceReading,
  deps: RunDeps,
  loader: BatchLoader,
): Promise<Extraction> {
  const { stream, window } = slice
  const { pages, readItem, asked, reportPage } = reading
  const countOfSlice = (rows: readonly Row[]) =>
    window === undefined
      ? rows.length
      : rows.filter((row) => liesWithin(row, stream.timeColumns, window, deps.timeZone)).length
  const keyOf = rowKey(stream)
  // While page 1 is on its way.
  const [suspects] = await Promise.all([readSuspects(slice, reading, deps), reading.firstPage()])
  let channelFacts: ChannelFacts | undefined
  let previous: WalkSummary | undefined
  const requireFields = openFieldCheck(slice, reading, deps)

  for (let attempt = 1; ; attempt++) {
    const walk = startWalk(stream, readItem, new Set(suspects))
    let count = 0
    for await (const { page, lastPage } of readPages(pages)) {
      const rows = walk.add(page)
      if (asked) requireFiltered(describeList(pages.list), stream, rows, asked, deps.timeZone)
      await loader.add(rows, async () => await requireFields(walk.summary()))
      count += countOfSlice(rows)
      channelFacts = completeFacts(channelFacts, stream, page, readItem)
      reportPage(page.items.length, lastPage)
    }
    await requireFields(walk.summary())
    const verdict = judgeWalks(walk.summary(), previous)
    const isLast = isSettled(verdict) || attempt === MOST_READINGS
    if (isLast && verdict.proof === 'moving') await readHead(pages, walk, loader)
    const walked = walk.summary()
    const winners = winnersOf(stream, walked.held)
    await loader.add(winners)
    count += countOfSlice(winners)
    if (isLast) {
      const duplicates = isSettled(verdict) ? losersOf(stream, walked.held) : []
      const summary = { ...walked, rejected: [...walked.rejected, ...duplicates] }
      const found = { count, has: walk.hasKey }
      return { summary, verdict, channelFacts, title: undefined, found }
    }
    await loader.flush()
    for (const row of walked.repeated) suspects.add(keyOf(row))
    previous = walked
  }
}

/** The keys of which the list has had real duplicates before. */
async function readSuspects(
  { stream, partition }: Slice,
  { earlier }: SliceReading,
  { db }: RunDeps,
): Promise<Set<string>> {
  if (!(await earlier()).hasDuplicates) return new Set()
  const field = keyField(stream)
  const column = Object.values(stream.columns).find(({ source }) => source.kind === 'field' && source.field === field)
  const values = await readDuplicates(db, stream, partition)
  return new Set(values.map((value) => String(column?.source.kind === 'field' ? column.source.parse(value) : value)))
}

/** Reads the first pages of a list that moves until one brings no new key, so that who jumped to the front lands too. */
async function readHead(pages: PageReading, walk: Walk, loader: BatchLoader): Promise<void> {
  let known: number
  let number = 1
  do {
    known = walk.summary().distinct
    const page = number === 1 ? await fetchNumbered(pages, number) : await fetchUnlessRefused(pages, number)
    if ('refusal' in page) return
    await loader.add(walk.add(page))
    number++
  } while (walk.summary().distinct > known)
}

/** What the accepted items of a page add to what is known of their channel. */
function completeFacts(
  known: ChannelFacts | undefined,
  { channelFacts }: Stream,
  page: Page,
  readItem: ItemReader,
): ChannelFacts | undefined {
  if (channelFacts === undefined) return undefined
  let facts = known
  for (const item of page.items) {
    if (facts && facts.name !== null && facts.adminId !== null) return facts
    const more = readItem(item, page).kind === 'row' ? channelFacts(item) : undefined
    if (more) facts = { name: facts?.name ?? more.name, adminId: facts?.adminId ?? more.adminId }
  }
  return facts
}

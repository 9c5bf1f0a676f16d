import type { Row } from '../core/column.ts'
import type { ChannelFacts } from '../core/stream.ts'
import type { BatchLoader } from './batch-loader.ts'
import { type Extraction, isSettled, MOST_READINGS } from './extraction.ts'
import { judgeWalk } from './judge-walk.ts'
import type { SliceReading } from './open-reading.ts'
import { describeList, fetchNumbered, type PageReading } from './page-reading.ts'
import { readPages } from './read-pages.ts'
import { liesWithin, requireFiltered } from './row-window.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { startWalk, type Walk } from './walk.ts'

/**
 * Reads the pages of a slice whose rows have a key, walk by walk until one proves itself. Rows go to `loader` as they come:
 * to write a keyed row twice, or from a walk that proves nothing, does no harm.
 */
export async function extractKeyed(
  slice: Slice,
  reading: SliceReading,
  deps: RunDeps,
  loader: BatchLoader,
): Promise<Extraction> {
  const { stream, window } = slice
  const { pages, readItem, asked, reportPage } = reading
  let channelFacts: ChannelFacts | undefined
  const isOfSlice = (row: Row) => window === undefined || liesWithin(row, stream.timeColumns, window, deps.timeZone)

  for (let attempt = 1; ; attempt++) {
    const walk = startWalk(stream, readItem)
    let count = 0
    for await (const { page, lastPage } of readPages(pages)) {
      const rows = walk.add(page)
      if (asked) requireFiltered(describeList(pages.list), stream, rows, asked, deps.timeZone)
      await loader.add(rows)
      count += rows.filter(isOfSlice).length
      channelFacts ??= stream.channelFacts?.(page.items[0])
      reportPage(page.items.length, lastPage)
    }
    const verdict = judgeWalk(walk.summary())
    if (isSettled(verdict) || attempt === MOST_READINGS) {
      if (verdict.proof === 'moving') await readHead(pages, walk, loader)
      const summary = walk.summary()
      return { summary, verdict, channelFacts, title: undefined, found: { count, has: walk.hasKey } }
    }
    await loader.flush()
  }
}

/** Reads the first pages of a list that moves until one brings no new key, so that who jumped to the front lands too. */
async function readHead(pages: PageReading, walk: Walk, loader: BatchLoader): Promise<void> {
  let fresh: readonly Row[]
  let number = 1
  do {
    fresh = walk.add(await fetchNumbered(pages, number++))
    await loader.add(fresh)
  } while (fresh.length > 0)
}

import type { Row } from '../core/column.ts'
import { partitionKey } from '../core/slice.ts'
import type { ChannelFacts } from '../core/stream.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import type { BatchLoader } from './batch-loader.ts'
import type { CallMeter } from './call-meter.ts'
import { judgeWalk, type Verdict } from './judge-walk.ts'
import { type PageReading, readPages } from './read-pages.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { startWalk, type Walk, type WalkSummary } from './walk.ts'

/** What reading a slice brought; its rows have been given to the loader, but for those that came more than once. */
export interface Extraction {
  readonly summary: WalkSummary
  readonly verdict: Verdict
  readonly channelFacts: ChannelFacts | undefined
}

/** A walk that does not prove itself is repeated up to two times; each is judged alone. */
const MOST_WALKS = 3

/** Reads the pages of a slice until a walk proves itself. Rows go to `loader` as they come. */
export async function extractSlice(
  slice: Slice,
  deps: RunDeps,
  meter: CallMeter,
  loader: BatchLoader,
): Promise<Extraction> {
  const { stream, partition } = slice
  const serviceDay = formatWallDate(wallTimeAt(deps.clock.now(), deps.timeZone))
  const readItem = deps.openItemReader(stream, { partition, serviceDay })
  const reading: PageReading = {
    fetchPage: deps.fetchPage,
    list: stream.request(partition, slice.asked),
    pageSize: stream.pageSize,
    prefetch: deps.prefetch,
    context: { signal: deps.signal, onAttempt: meter.onAttempt },
  }
  let channelFacts: ChannelFacts | undefined

  for (let attempt = 1; ; attempt++) {
    const walk = startWalk(stream, readItem)
    for await (const { page, lastPage } of readPages(reading)) {
      await loader.add(walk.add(page))
      channelFacts ??= stream.channelFacts?.(page.items[0])
      deps.report({
        kind: 'page',
        stream: stream.name,
        partition: partitionKey(partition),
        rows: page.items.length,
        totalPages: lastPage,
      })
    }
    const verdict = judgeWalk(walk.summary())
    const isSettled = verdict.proof === 'verified' || verdict.proof === 'unverifiable'
    if (isSettled || attempt === MOST_WALKS) {
      if (verdict.proof === 'moving') await readHead(reading, walk, loader)
      return { summary: walk.summary(), verdict, channelFacts }
    }
    await loader.flush()
  }
}

/** Reads the first pages of a list that moves until one brings no new key, so that who jumped to the front lands too. */
async function readHead(reading: PageReading, walk: Walk, loader: BatchLoader): Promise<void> {
  const { fetchPage, list, pageSize, context } = reading
  let fresh: readonly Row[]
  let number = 1
  do {
    const page = await fetchPage({ list, page: number++, pageSize }, context)
    fresh = walk.add(page)
    await loader.add(fresh)
  } while (fresh.length > 0)
}

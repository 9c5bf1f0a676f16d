import type { Window } from '../../core/slice.ts'
import type { Stream, StreamName } from '../../core/stream.ts'
import { MINUTE } from '../../core/wall-clock.ts'
import { findLongRows, type LongRow } from '../../store/table-part.ts'
import { fetchPastEnd } from '../page-reading.ts'
import type { CallMeter, RunDeps } from '../slice-work.ts'
import { rowKey } from '../walk.ts'

/** Then its two times can be asked for apart. */
const LONG_MINUTES = 5
const MOST_ROWS = 6
const AGREEMENT = 2
/** In a busy minute a row may lie on a far page: then another row is tried. */
const MOST_PAGES = 3

/** The column by which the service counts the rows of a stream; undefined where nothing shows it. */
export type LearnColumn = (stream: Stream, meter: CallMeter) => Promise<string | undefined>

/** Finds it out when it is first asked for, at the cost of who asks, and remembers it. */
export function learnerOf(channelIds: readonly string[], deps: RunDeps): LearnColumn {
  const learned = new Map<StreamName, Promise<string | undefined>>()
  return async (stream, meter) => {
    const known = learned.get(stream.name) ?? learnFilterColumn(stream, channelIds, deps, meter)
    learned.set(stream.name, known)
    try {
      return await known
    } catch (error) {
      // The next one that needs it tries again.
      learned.delete(stream.name)
      throw error
    }
  }
}

/**
 * Finds out which time of a row the service holds against the end of its filter, where the spec does not say (API 4.5): looks for
 * rows of the warehouse around the one time and around the other. Two rows have to agree.
 * @returns the column; undefined where nothing shows it
 */
async function learnFilterColumn(
  stream: Stream,
  channelIds: readonly string[],
  deps: RunDeps,
  meter: CallMeter,
): Promise<string | undefined> {
  const [first, second] = stream.timeColumns
  if (second === undefined) return first
  /** By the first of its times, or else, where it comes at all, by the second. */
  const voteOf = async (row: LongRow): Promise<string | undefined> => {
    const isFirst = await comesWithin(aroundMinute(row.from), row, stream, deps, meter)
    if (isFirst !== false) return isFirst ? first : undefined
    const whole = { from: row.from - MINUTE, to: row.to + 2 * MINUTE }
    return (await comesWithin(whole, row, stream, deps, meter)) ? second : undefined
  }
  const part = { stream, timeZone: deps.timeZone }
  const votes = new Map<string, number>()
  for (const row of await findLongRows(deps.db, part, channelIds, LONG_MINUTES, MOST_ROWS)) {
    const vote = await voteOf(row)
    if (vote === undefined) continue
    const count = (votes.get(vote) ?? 0) + 1
    votes.set(vote, count)
    if (count === AGREEMENT) return vote
  }
  return votes.size === 1 ? [...votes.keys()][0] : undefined
}

/** Whichever second of it, and whether ends belong to the range or not. */
function aroundMinute(minute: number): Window {
  return { from: minute - MINUTE, to: minute + 2 * MINUTE }
}

/** @returns undefined where the row may lie on a page that is too far to be looked at */
async function comesWithin(
  window: Window,
  { channelId, key }: LongRow,
  stream: Stream,
  deps: RunDeps,
  meter: CallMeter,
): Promise<boolean | undefined> {
  const partition = { channel: channelId }
  const readItem = deps.openItemReader(stream, { partition, serviceDay: '' })
  const keyOf = rowKey(stream)
  const reading = {
    fetchPage: deps.fetchPage,
    list: { stream, partition, window },
    pageSize: stream.pageSize,
    readAhead: deps.readAhead,
    context: { signal: deps.signal, onAttempt: meter.onAttempt },
  }
  let seen = 0
  for (let number = 1; number <= MOST_PAGES; number++) {
    const page = await fetchPastEnd(reading, number)
    for (const item of page?.items ?? []) {
      const read = page && readItem(item, page)
      if (read?.kind === 'row' && keyOf(read.row) === key) return true
    }
    seen += page?.items.length ?? 0
    if (page === undefined || seen >= (page.total ?? 0)) return false
  }
  return undefined
}

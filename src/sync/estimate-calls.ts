import type { Kysely } from 'kysely'
import { recoveryFrom } from '../core/errors.ts'
import type { CallContext, FetchPage } from '../core/page.ts'
import { partitionKey, widen } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { MINUTE } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { readKnownRows } from '../ledger/slices.ts'
import { longestSlice } from './cut-slice.ts'
import type { PartitionPlan } from './partitions.ts'
import type { Slice } from './slice-work.ts'

/** How many calls a plan will take for one stream, repeats and repetitions of moving lists left out. */
export interface StreamEstimate {
  readonly stream: StreamName
  readonly slices: number
  readonly calls: number
  /** Whether `calls` is a floor: of some slices nothing is known. */
  readonly isAtLeast: boolean
  /** Of how many slices the rows are known from earlier readings, from asking, from those that were asked, and not at all. */
  readonly basis: {
    readonly ledger: number
    readonly asked: number
    readonly likeAsked: number
    readonly unknown: number
  }
  /** By partition, where only some calls a day may be made. */
  readonly callsOf?: ReadonlyMap<string, number>
}

export interface EstimateDeps {
  /** Undefined for a database without a schema. */
  readonly db: Kysely<Database> | undefined
  readonly fetchPage: FetchPage
  readonly context: CallContext
  /** The known questionnaires of a channel. */
  readonly questionsOf: (channelId: string) => readonly string[]
}

/** Of so many slices a stream the source is asked; the others are taken to be like them. */
const MOST_ASKED = 20
/** What cutting a longer list takes beside its pages (see `cut-slice.ts`), for each part. */
const PAGES_A_SLICE = 50
const CALLS_A_PART = 1.5
const CALLS_A_BARE_PART = 5.5

/**
 * Estimates the calls of a plan: from the totals of earlier readings, else by asking the source for page 1 with one row. Lists
 * without a total are never asked: their calls are guessed from the rows that came before.
 * @throws LivehouseError what ends a run, such as `api.unauthorized`
 */
export async function estimateCalls(
  streams: readonly Stream[],
  plans: readonly PartitionPlan[],
  deps: EstimateDeps,
): Promise<readonly StreamEstimate[]> {
  const estimates: StreamEstimate[] = []
  let unlisted = 0
  for (const stream of streams) {
    const slices = plans.filter((plan) => plan.stream.name === stream.name).flatMap((plan) => plan.slices)
    const { rows, basis } = await expectRows(stream, slices, deps)
    if (stream.name === 'questionnaires') unlisted = countUnlisted(slices, rows, deps)
    const more = stream.partitionedBy === 'channel/question' ? unlisted : 0
    const calls = slices.reduce((sum, slice, index) => sum + callsLeft(slice, rows[index]), more)
    const unknown = basis.unknown + more
    const isAtLeast = unknown > 0
    estimates.push({
      stream: stream.name,
      slices: slices.length + more,
      calls,
      isAtLeast,
      basis: { ...basis, unknown },
      ...(stream.isBudgeted ? { callsOf: callsByPartition(slices, rows) } : {}),
    })
  }
  return estimates
}

/** Calls for so many rows, at the largest page that the spec allows. */
function callsFor(stream: Stream, rows: number | undefined): number {
  const { pageSize, isCounted, isTimeFiltered, isBudgeted } = stream
  // An empty page ends it.
  if (isBudgeted) return Math.ceil((rows ?? 0) / pageSize) + 1
  const longest = longestSlice(stream, PAGES_A_SLICE)
  const pages = Math.ceil((rows ?? 0) / pageSize)
  const parts = pages > longest ? Math.ceil(pages / longest) : 0
  if (isCounted) return Math.max(1, pages) + (isTimeFiltered ? Math.ceil(parts * CALLS_A_PART) : 0)
  if (parts > 0) return pages + Math.ceil(parts * CALLS_A_BARE_PART)
  // An empty page is the end; a full first one takes a look at a far one, and the first and the last again.
  return pages + ((rows ?? 0) < pageSize ? 1 : 4)
}

/** Without the pages that have landed, but that the last of them is looked at again. */
function callsLeft({ stream, pagesRead = 0 }: Slice, rows: number | undefined): number {
  return Math.max(1, callsFor(stream, rows) - pagesRead) + Number(pagesRead > 0)
}

function callsByPartition(slices: readonly Slice[], rows: Expectation['rows']): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const [index, slice] of slices.entries()) {
    const name = partitionKey(slice.partition)
    sums.set(name, (sums.get(name) ?? 0) + callsLeft(slice, rows[index]))
  }
  return sums
}

interface Expectation {
  readonly rows: readonly (number | undefined)[]
  readonly basis: StreamEstimate['basis']
}

async function expectRows(stream: Stream, slices: readonly Slice[], deps: EstimateDeps): Promise<Expectation> {
  const questions = slices.map(({ partition, window }) => ({ partition: partitionKey(partition), window }))
  const known = deps.db && (await readKnownRows(deps.db, stream.name, stream.isCounted, questions))
  const rows = slices.map((_, index) => known?.[index])
  const open = rows.flatMap((each, index) => (each === undefined ? [index] : []))
  const ledger = rows.length - open.length
  if (!stream.isCounted || open.length === 0)
    return { rows, basis: { ledger, asked: 0, likeAsked: 0, unknown: open.length } }

  const sample = spread(open, MOST_ASKED)
  const totals = new Map<number, number>()
  await Promise.all(
    sample.map(async (index) => {
      const total = await askTotal(slices[index], deps)
      if (total !== undefined) totals.set(index, total)
    }),
  )
  const mean = [...totals.values()].reduce((sum, total) => sum + total, 0) / totals.size
  const filled = rows.map((each, index) => each ?? totals.get(index) ?? (totals.size === 0 ? undefined : mean))
  const left = open.length - totals.size
  const [likeAsked, unknown] = totals.size === 0 ? [0, left] : [left, 0]
  return { rows: filled, basis: { ledger, asked: totals.size, likeAsked, unknown } }
}

/** At most `most` of them, evenly spread. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, items.length / most)
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

/** Undefined where this partition cannot be asked, such as a channel that the service does not know. */
async function askTotal(slice: Slice | undefined, { fetchPage, context }: EstimateDeps): Promise<number | undefined> {
  if (slice === undefined) return undefined
  const { stream, partition, window } = slice
  try {
    const list = { stream, partition, window: window && widen(window, MINUTE) }
    return (await fetchPage({ list, page: 1, pageSize: 1 }, context)).total
  } catch (error) {
    if (recoveryFrom(error) === 'skip') return undefined
    throw error
  }
}

/** Questionnaires that the service has and nobody has read yet: each takes a call at least. */
function countUnlisted(slices: readonly Slice[], rows: Expectation['rows'], { questionsOf }: EstimateDeps): number {
  const unlisted = slices.reduce((sum, { partition }, index) => {
    const known = questionsOf(partition.channel ?? '').length
    return sum + Math.max(0, (rows[index] ?? 0) - known)
  }, 0)
  return Math.round(unlisted)
}

import type { Kysely } from 'kysely'
import { recoveryFrom } from '../core/errors.ts'
import type { CallContext, FetchPage } from '../core/page.ts'
import { partitionKey, widen } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { MINUTE } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { readKnownRows } from '../ledger/slices.ts'
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
    const expected = await expectRows(stream, slices, deps)
    if (stream.listsQuestions) unlisted = countUnlisted(expected, deps)
    const more = stream.partitionedBy === 'channel/question' ? unlisted : 0
    const basis = { ledger: 0, asked: 0, likeAsked: 0, unknown: more }
    const callsOf = new Map<string, number>()
    for (const { slice, rows, from } of expected) {
      const partition = partitionKey(slice.partition)
      basis[from]++
      callsOf.set(partition, (callsOf.get(partition) ?? 0) + callsLeft(slice, rows))
    }
    estimates.push({
      stream: stream.name,
      slices: slices.length + more,
      calls: [...callsOf.values()].reduce((sum, calls) => sum + calls, more),
      isAtLeast: basis.unknown > 0,
      basis,
      ...(stream.isBudgeted ? { callsOf } : {}),
    })
  }
  return estimates
}

/** Calls for so many rows, at the largest page that the spec allows; what cutting a long list takes beside its pages is left out. */
function callsFor({ pageSize, isCounted, isBudgeted }: Stream, rows = 0): number {
  const pages = Math.ceil(rows / pageSize)
  if (isCounted) return Math.max(1, pages)
  // An empty page is the end; where few calls are allowed, nothing else is asked for.
  if (isBudgeted === true || rows < pageSize) return pages + 1
  // A full first page takes a look at a far one, and the first and the last again.
  return pages + 4
}

/** Without the pages that have landed, but that the last of them is looked at again. */
function callsLeft({ stream, pagesRead = 0 }: Slice, rows: number | undefined): number {
  return Math.max(1, callsFor(stream, rows) - pagesRead) + Number(pagesRead > 0)
}

/** How many rows a slice will have, undefined where nothing is known, and from where that is known. */
interface Expectation {
  readonly slice: Slice
  readonly rows: number | undefined
  readonly from: keyof StreamEstimate['basis']
}

async function expectRows(
  stream: Stream,
  slices: readonly Slice[],
  deps: EstimateDeps,
): Promise<readonly Expectation[]> {
  const questions = slices.map(({ partition, window }) => ({ partition: partitionKey(partition), window }))
  const known = deps.db && (await readKnownRows(deps.db, stream.name, stream.isCounted, questions))
  const open = stream.isCounted ? slices.filter((_, index) => known?.[index] === undefined) : []
  const totals = new Map<Slice, number>()
  await Promise.all(
    spread(open, MOST_ASKED).map(async (slice) => {
      const total = await askTotal(slice, deps)
      if (total !== undefined) totals.set(slice, total)
    }),
  )
  const mean = [...totals.values()].reduce((sum, total) => sum + total, 0) / totals.size
  return slices.map((slice, index): Expectation => {
    const rows = known?.[index]
    if (rows !== undefined) return { slice, rows, from: 'ledger' }
    const total = totals.get(slice)
    if (total !== undefined) return { slice, rows: total, from: 'asked' }
    return totals.size > 0 ? { slice, rows: mean, from: 'likeAsked' } : { slice, rows: undefined, from: 'unknown' }
  })
}

/** At most `most` of them, evenly spread. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, items.length / most)
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

/** Undefined where this partition cannot be asked, such as a channel that the service does not know. */
async function askTotal(
  { stream, partition, window }: Slice,
  { fetchPage, context }: EstimateDeps,
): Promise<number | undefined> {
  try {
    const list = { stream, partition, window: window && widen(window, MINUTE) }
    return (await fetchPage({ list, page: 1, pageSize: 1 }, context)).total
  } catch (error) {
    if (recoveryFrom(error) === 'skip') return undefined
    throw error
  }
}

/** Questionnaires that the service has and nobody has read yet: each takes a call at least. */
function countUnlisted(lists: readonly Expectation[], { questionsOf }: EstimateDeps): number {
  const unlisted = lists.map(({ slice, rows = 0 }) => rows - questionsOf(slice.partition.channel ?? '').length)
  return Math.round(unlisted.reduce((sum, count) => sum + Math.max(0, count), 0))
}

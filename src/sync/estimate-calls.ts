import { recoveryFrom } from '../core/errors.ts'
import type { CallContext, FetchPage } from '../core/page.ts'
import { widen } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { MINUTE } from '../core/wall-clock.ts'
import type { PartitionPlan } from './plan-slices.ts'
import type { Slice } from './slice-work.ts'

/** How many calls a plan will take for one stream, repeats and repetitions of moving lists left out. */
export interface StreamEstimate {
  readonly stream: StreamName
  readonly slices: number
  readonly calls: number
  /** Whether `calls` is a floor: of some slices nothing is known but that each takes a call. */
  readonly isAtLeast: boolean
}

export interface EstimateDeps {
  readonly fetchPage: FetchPage
  readonly context: CallContext
  /** The known questionnaires of a channel. */
  readonly questionsOf: (channelId: string) => readonly string[]
}

/** Of so many slices a stream the source is asked; the others are taken to be like them. */
const MOST_ASKED = 20

/**
 * Estimates the calls of a plan by asking the source for page 1 with one row. Lists without a total are never asked.
 * @throws LivehouseError what ends a run, such as `api.unauthorized`
 */
export async function estimateCalls(
  streams: readonly Stream[],
  plans: readonly PartitionPlan[],
  deps: EstimateDeps,
): Promise<readonly StreamEstimate[]> {
  const estimates: StreamEstimate[] = []
  /** Questionnaires that the service has and nobody has read yet. */
  let unlisted = 0
  for (const { name: stream, isCounted, pageSize, listsQuestions, partitionedBy } of streams) {
    const slices = plans.filter((plan) => plan.stream.name === stream).flatMap((plan) => plan.slices)
    const answers = (isCounted ? spread(slices, MOST_ASKED) : []).map(async (slice) => await askTotal(slice, deps))
    const asked = (await Promise.all(answers)).filter((answer) => answer !== undefined)
    const scale = (counts: readonly number[]) =>
      Math.round((counts.reduce((sum, count) => sum + count, 0) / Math.max(1, asked.length)) * slices.length)
    const pages = scale(asked.map(({ total }) => Math.max(1, Math.ceil(total / pageSize))))
    const more = partitionedBy === 'channel/question' ? unlisted : 0
    const isAtLeast = more > 0 || (slices.length > 0 && asked.length === 0)
    const calls = (asked.length === 0 ? slices.length : pages) + more
    estimates.push({ stream, slices: slices.length + more, calls, isAtLeast })
    if (listsQuestions)
      unlisted = scale(
        asked.map(({ slice, total }) => Math.max(0, total - deps.questionsOf(slice.partition.channel ?? '').length)),
      )
  }
  return estimates
}

/** At most `most` of them, evenly spread. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, items.length / most)
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

/** Undefined where this partition cannot be asked, such as a channel that the service does not know. */
async function askTotal(slice: Slice, { fetchPage, context }: EstimateDeps) {
  const { stream, partition, window } = slice
  try {
    const list = { stream, partition, window: window && widen(window, MINUTE) }
    const { total } = await fetchPage({ list, page: 1, pageSize: 1 }, context)
    return total === undefined ? undefined : { slice, total }
  } catch (error) {
    if (recoveryFrom(error) === 'skip') return undefined
    throw error
  }
}

import type { Kysely } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { readCoverage } from '../ledger/coverage.ts'
import { type PartitionPlan, type PlannedChannel, type QuestionsOf, wantedPartitions } from './partitions.ts'
import { coveredPart, horizonAt, mergeWindows, restingApart } from './plan-windows.ts'

export interface BackfillPlan {
  /** Time-filtered ones. */
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** Of the service's wall clock, whole minutes, half-open. */
  readonly window: Window
  /** The service's wall clock at the start of the run. */
  readonly now: WallTime
  /** Undefined for a plan that is only looked at. */
  readonly backfillId: string | undefined
  /** Leaves alone what is covered. */
  readonly onlyGaps: boolean
}

/**
 * What is left of a backfill: its range without what has landed under itself, covered or not; with `onlyGaps` without anything
 * that is covered. It never moves or blocks a sync, and its slices are coverage too.
 */
export async function planBackfill(
  db: Kysely<Database> | undefined,
  plan: BackfillPlan,
  questionsOf: QuestionsOf,
): Promise<readonly PartitionPlan[]> {
  const plans = await Promise.all(plan.streams.map((stream) => planStream(db, stream, plan, questionsOf)))
  return plans.flat()
}

async function planStream(
  db: Kysely<Database> | undefined,
  stream: Stream,
  { channels, window, now, backfillId, onlyGaps }: BackfillPlan,
  questionsOf: QuestionsOf,
): Promise<readonly PartitionPlan[]> {
  const horizon = horizonAt(now)
  const past = { from: window.from, to: Math.min(window.to, horizon.newest) }
  const wanted = wantedPartitions(stream, channels, questionsOf, past)
  const isFresh = backfillId === undefined && !onlyGaps
  const coverage = isFresh
    ? undefined
    : await readCoverage(db, stream.name, wanted, onlyGaps || backfillId === undefined ? {} : { backfillId })
  return wanted.map(({ of, partition, window: whole }) => {
    const gaps = mergeWindows(coverage?.get(partition)?.gaps ?? [whole]).toReversed()
    const windows = gaps.flatMap((gap) => restingApart(gap, stream, now))
    const slices = windows.map((part) => {
      const slice = { stream, partition: of, window: part, covers: coveredPart(part, horizon) }
      return backfillId === undefined ? slice : { ...slice, backfillId }
    })
    return { stream, partition: of, slices }
  })
}

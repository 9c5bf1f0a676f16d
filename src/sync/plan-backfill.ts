import type { Kysely } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { readGaps } from '../ledger/coverage.ts'
import { type PartitionPlan, planGaps, type PlannedChannel, type QuestionsOf, wantedPartitions } from './partitions.ts'
import { horizonAt } from './plan-windows.ts'

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
  const { streams, channels, now, backfillId, onlyGaps } = plan
  const past = { from: plan.window.from, to: Math.min(plan.window.to, horizonAt(now).newest) }
  const more = backfillId === undefined ? {} : { backfillId }
  const plans = streams.map(async (stream) => {
    const wanted = wantedPartitions(stream, channels, questionsOf, past)
    const isFresh = backfillId === undefined && !onlyGaps
    const gapsOf = isFresh ? undefined : await readGaps(db, stream.name, wanted, onlyGaps ? {} : more)
    return planGaps(stream, wanted, gapsOf, now, more)
  })
  return (await Promise.all(plans)).flat()
}

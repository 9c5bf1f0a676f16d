import type { Kysely } from 'kysely'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { readCoverage } from '../state/coverage.ts'
import {
  type PartitionPlan,
  partitionsOf,
  type PlannedChannel,
  type QuestionsOf,
  wantedPartitions,
} from './partitions.ts'
import { coveredPart, horizonAt, restingApart } from './plan-windows.ts'

export interface SyncPlan {
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** The earliest time that a first sync asks for. */
  readonly historyFrom: WallTime
  /** The service's wall clock at the start of the run. */
  readonly now: WallTime
}

/**
 * What brings streams up to now: every snapshot, and of time-filtered streams what the
 * ledger does not cover, and what it covers but was read when its rows still changed (the lookback). Not simply what lies a
 * lookback before the covered end: after an interruption or a backfill the end may have moved on without what lies before it.
 */
export async function planSync(
  db: Kysely<Database> | undefined,
  plan: SyncPlan,
  questionsOf: QuestionsOf,
): Promise<readonly PartitionPlan[]> {
  const plans = await Promise.all(plan.streams.map((stream) => planStream(db, stream, plan, questionsOf)))
  return plans.flat()
}

async function planStream(
  db: Kysely<Database> | undefined,
  stream: Stream,
  { channels, historyFrom, now }: SyncPlan,
  questionsOf: QuestionsOf,
): Promise<readonly PartitionPlan[]> {
  if (!stream.isTimeFiltered) {
    return partitionsOf(stream, channels, questionsOf).map(({ partition }) => {
      return { stream, partition, slices: [{ stream, partition, window: undefined, covers: undefined }] }
    })
  }
  const horizon = horizonAt(now)
  const wanted = wantedPartitions(stream, channels, questionsOf, { from: historyFrom, to: horizon.newest })
  const coverage = await readCoverage(db, stream.name, wanted, { isSettled: true })
  return wanted.map(({ of, partition, window }) => {
    const gaps = (coverage.get(partition)?.gaps ?? [window]).toReversed()
    const windows = gaps.flatMap((gap) => restingApart(gap, stream, now))
    const slices = windows.map((part) => ({ stream, partition: of, window: part, covers: coveredPart(part, horizon) }))
    return { stream, partition: of, slices }
  })
}

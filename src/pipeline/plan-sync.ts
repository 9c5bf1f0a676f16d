import type { Kysely } from 'kysely'
import { partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { readCoverage } from '../state/coverage.ts'
import { readWalkMarks, type WalkMark } from '../state/walk-marks.ts'
import { ASSUMABLE } from './assume-unchanged.ts'
import {
  type PartitionPlan,
  type PlannedChannel,
  partitionsOf,
  type QuestionsOf,
  wantedPartitions,
} from './partitions.ts'
import { coveredPart, horizonAt, mergeWindows, restingApart } from './plan-windows.ts'
import { coverageFor, mayAssume, rereadParts, type SyncTuning, settleSecondsOf } from './sync-tuning.ts'

export interface SyncPlan {
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** The earliest time that a first sync asks for. */
  readonly historyFrom: WallTime
  /** The service's wall clock at the start of the run. */
  readonly now: WallTime
  /** What a job changes of it. */
  readonly tuning?: SyncTuning
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
  plan: SyncPlan,
  questionsOf: QuestionsOf,
): Promise<readonly PartitionPlan[]> {
  if (!stream.isTimeFiltered) return await planWalks(db, stream, plan, questionsOf)
  const { channels, historyFrom, now, tuning } = plan
  const settleSeconds = settleSecondsOf(stream, tuning)
  const settle = settleSeconds === undefined ? {} : { settleSeconds }
  const horizon = horizonAt(now, settleSeconds)
  const wanted = wantedPartitions(stream, channels, questionsOf, { from: historyFrom, to: horizon.newest })
  const coverage = await readCoverage(db, stream.name, wanted, coverageFor(stream, tuning))
  return wanted.map(({ of, partition, window }) => {
    const gaps = coverage.get(partition)?.gaps ?? [window]
    // Of few calls a day none is for what is covered.
    const days = stream.isBudgeted ? undefined : tuning?.rereadDays
    const wished = days === undefined ? gaps : mergeWindows([...gaps, ...rereadParts(window, now, days)])
    const windows = wished.toReversed().flatMap((gap) => restingApart(gap, stream, now))
    const slices = windows.map((part) => {
      return { stream, partition: of, window: part, covers: coveredPart(part, horizon), ...settle }
    })
    return { stream, partition: of, slices }
  })
}

/** Whole lists, of visitors without those that are left out where they have not changed. */
async function planWalks(
  db: Kysely<Database> | undefined,
  stream: Stream,
  { channels, now, tuning }: SyncPlan,
  questionsOf: QuestionsOf,
): Promise<readonly PartitionPlan[]> {
  const isTuned = stream.name === ASSUMABLE && tuning?.visitorWalk !== undefined
  const marks = db !== undefined && isTuned ? await readWalkMarks(db, stream.name) : new Map<string, WalkMark>()
  return partitionsOf(stream, channels, questionsOf).map(({ partition }) => {
    const key = partitionKey(partition)
    const mark = marks.get(key)
    const sameAs = mark && tuning && mayAssume(key, mark, now, tuning) ? { sameAs: mark } : {}
    return { stream, partition, slices: [{ stream, partition, window: undefined, covers: undefined, ...sameAs }] }
  })
}

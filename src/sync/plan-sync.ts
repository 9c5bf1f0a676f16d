import type { Kysely } from 'kysely'
import type { PerStream } from '../core/define-job.ts'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { readGaps } from '../ledger/coverage.ts'
import {
  type PartitionPlan,
  planGaps,
  type PlannedChannel,
  partitionsOf,
  type QuestionsOf,
  wantedPartitions,
} from './partitions.ts'
import { AGREEMENT_SECONDS, horizonAt, isReadTwice, lookbackStart } from './plan-windows.ts'

export interface SyncPlan {
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** The earliest time that a first sync asks for. */
  readonly historyFrom: WallTime
  /** The service's wall clock at the start of the run. */
  readonly now: WallTime
  /** The service's. */
  readonly timeZone: string
  /** How long rows of a stream may still change, where a job says so; else as the stream says. */
  readonly lookbackDays?: PerStream | undefined
}

/**
 * What brings streams up to now: every snapshot, and of time-filtered streams what has not been seen to rest: what the ledger
 * does not cover, the lookback, in which rows still change, and what the last reading changed, missed or (of a list without a
 * total) read for the first time. That waits until a second reading can agree.
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
  const { channels, historyFrom, now, timeZone } = plan
  if (!stream.isTimeFiltered) {
    return partitionsOf(stream, channels, questionsOf).map(({ partition }) => {
      return { stream, partition, slices: [{ stream, partition, window: undefined, covers: undefined }] }
    })
  }
  const lookbackDays = plan.lookbackDays?.[stream.name] ?? stream.lookbackDays
  const wanted = wantedPartitions(stream, channels, questionsOf, { from: historyFrom, to: horizonAt(now).newest })
  const gapsOf = await readGaps(db, stream.name, wanted, {
    settledFor: { lookbackDays, ofStream: stream.lookbackDays, timeZone },
    ...(isReadTwice(stream) && {
      recent: { since: now - AGREEMENT_SECONDS, until: lookbackStart(now, lookbackDays) - AGREEMENT_SECONDS, timeZone },
    }),
  })
  return planGaps(stream, wanted, gapsOf, now, { lookbackDays })
}

import type { ExtractionSettings } from './settings.ts'
import type { PerStream } from '../core/define-job.ts'
import type { Clock } from '../core/clock.ts'
import type { RunOutcome } from '../core/outcome.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Db } from '../store/database.ts'
import { type BackfillPlan, planBackfill, planSync } from '../sync/plan-slices.ts'
import type { PlanStreams } from '../sync/run-streams.ts'
import { closeBackfill } from '../ledger/backfills.ts'
import type { AppContext } from './context.ts'
import { type ExtractionRequest, runExtraction } from './run-extraction.ts'

/** Plans a sync. `db`: undefined for a database without a schema. */
export function syncPlan(
  db: Db | undefined,
  { channels, historyFrom, service: { timeZone } }: ExtractionSettings,
  now: WallTime,
  lookbackDays?: PerStream,
): PlanStreams {
  return (streams, questionsOf) =>
    planSync(db, { streams, channels, historyFrom, now, timeZone, lookbackDays }, questionsOf)
}

type BackfillRange = Pick<BackfillPlan, 'window' | 'backfillId' | 'onlyGaps'>

/** Plans a backfill. Lists without a time filter, which other streams depend on, are read as in a sync. */
export function backfillPlan(
  db: Db | undefined,
  settings: ExtractionSettings,
  range: BackfillRange,
  now: WallTime,
): PlanStreams {
  return async (some, questionsOf) => {
    const [inTime, snapshots] = [true, false].map((is) => some.filter(({ isTimeFiltered }) => isTimeFiltered === is))
    return [
      ...(await syncPlan(db, settings, now)(snapshots ?? [], questionsOf)),
      ...(await planBackfill(db, { ...range, now, streams: inTime ?? [], channels: settings.channels }, questionsOf)),
    ]
  }
}

interface BackfillRequest extends Omit<ExtractionRequest, 'planStreams' | 'settings'> {
  readonly settings: ExtractionSettings
  readonly range: BackfillRange & { readonly backfillId: string }
  /** The clock by which its end is recorded. */
  readonly clock: Pick<Clock, 'now'>
}

/** Reads a range again, and closes the backfill when all of it has landed. */
export async function runBackfill(
  context: AppContext,
  { range, clock, ...request }: BackfillRequest,
): Promise<{ readonly outcome: RunOutcome; readonly isFinished: boolean }> {
  const { db, settings } = request
  const planStreams = (now: WallTime) => backfillPlan(db, settings, range, now)
  const outcome = await runExtraction(context, { order: 'oldest-first', yieldsToOthers: true, ...request, planStreams })
  const hasMoved = Object.values(outcome.streams).some(({ slices }) => slices.moving > 0)
  const isFinished = outcome.status === 'ok' && !hasMoved
  if (isFinished) await closeBackfill(db, range.backfillId, 'finished', new Date(clock.now()))
  return { outcome, isFinished }
}

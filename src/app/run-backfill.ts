import type { Clock } from '../core/clock.ts'
import type { PerStream } from '../core/define-job.ts'
import type { RunOutcome } from '../core/outcome.ts'
import type { WallTime } from '../core/wall-clock.ts'
import { type BackfillArguments, closeBackfill, openBackfill } from '../ledger/backfills.ts'
import type { Db } from '../store/database.ts'
import { type BackfillPlan, planBackfill, planSync } from '../sync/plan-slices.ts'
import type { PlanStreams } from '../sync/run-streams.ts'
import type { AppContext } from './context.ts'
import { type ExtractionRequest, runExtraction } from './run-extraction.ts'
import type { ExtractionSettings } from './settings.ts'

/** Plans a sync. `db`: undefined for a database without a schema. */
export function syncPlanner(
  db: Db | undefined,
  { channels, historyFrom, service: { timeZone } }: ExtractionSettings,
  now: WallTime,
  lookbackDays?: PerStream,
): PlanStreams {
  return (streams, questionsOf) =>
    planSync(db, { streams, channels, historyFrom, now, timeZone, lookbackDays }, questionsOf)
}

/** Plans a backfill. Lists without a time filter, which other streams depend on, are read as in a sync. */
export function backfillPlanner(
  db: Db | undefined,
  settings: ExtractionSettings,
  range: Pick<BackfillPlan, 'window' | 'backfillId' | 'onlyGaps'>,
  now: WallTime,
): PlanStreams {
  return async (some, questionsOf) => {
    const streams = some.filter(({ isTimeFiltered }) => isTimeFiltered)
    const snapshots = some.filter(({ isTimeFiltered }) => !isTimeFiltered)
    return [
      ...(await syncPlanner(db, settings, now)(snapshots, questionsOf)),
      ...(await planBackfill(db, { ...range, now, streams, channels: settings.channels }, questionsOf)),
    ]
  }
}

interface BackfillRequest extends Omit<ExtractionRequest, 'planStreams'>, Pick<BackfillPlan, 'window'> {
  /** What identifies a backfill: an unfinished one with the same arguments is resumed, unless `restart` is set. */
  readonly args: BackfillArguments
  readonly restart?: boolean
  /** Whether the same arguments may come again; if not, an unfinished backfill is abandoned. */
  readonly isResumable: boolean
  readonly onResumed?: (startedAt: Date) => void
  /** The clock for the recorded start and end of the backfill. */
  readonly clock: Pick<Clock, 'now'>
}

/** Reads a range again, and closes the backfill when all of it has landed. */
export async function runBackfill(
  context: AppContext,
  { window, args, restart = false, isResumable, onResumed, clock, ...request }: BackfillRequest,
): Promise<RunOutcome> {
  const { db, settings } = request
  const { backfillId, isResumed, startedAt } = await openBackfill(db, args, new Date(clock.now()), restart)
  if (isResumed) onResumed?.(startedAt)
  const range = { window, backfillId, onlyGaps: args.onlyGaps }
  const planStreams = (now: WallTime) => backfillPlanner(db, settings, range, now)
  const outcome = await runExtraction(context, { order: 'oldest-first', yieldsToOthers: true, ...request, planStreams })
  const hasMoved = Object.values(outcome.streams).some(({ slices }) => slices.moving > 0)
  const isFinished = outcome.status === 'ok' && !hasMoved
  const end = isFinished ? 'finished' : isResumable || context.signal.aborted ? undefined : 'abandoned'
  if (end !== undefined) await closeBackfill(db, backfillId, end, new Date(clock.now()))
  return outcome
}

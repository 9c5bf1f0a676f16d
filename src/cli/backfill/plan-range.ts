import type { Window } from '../../core/slice.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import { planBackfill } from '../../pipeline/plan-backfill.ts'
import { planSync } from '../../pipeline/plan-sync.ts'
import type { PlanStreams } from '../../pipeline/run-streams.ts'
import type { ReadDatabase } from '../dry-run.ts'
import type { ExtractionSettings } from '../extraction-settings.ts'

/** What of a range is to be read again. */
export interface BackfillRange {
  readonly window: Window
  readonly now: WallTime
  readonly backfillId: string | undefined
  readonly onlyGaps: boolean
}

/** Signups are asked for questionnaire by questionnaire: their list is read as a sync would. */
export function planRange(
  db: ReadDatabase,
  { channels, historyFrom, service: { timeZone } }: Pick<ExtractionSettings, 'channels' | 'historyFrom' | 'service'>,
  range: BackfillRange,
): PlanStreams {
  return async (some, questionsOf) => {
    const [inTime, snapshots] = [true, false].map((is) => some.filter(({ isTimeFiltered }) => isTimeFiltered === is))
    return [
      ...(await planSync(
        db,
        { streams: snapshots ?? [], channels, historyFrom, now: range.now, timeZone },
        questionsOf,
      )),
      ...(await planBackfill(db, { ...range, streams: inTime ?? [], channels }, questionsOf)),
    ]
  }
}

import type { StreamName } from '../../core/stream.ts'
import type { Overview } from '../../state/health.ts'
import type { WalkDay } from '../../state/latest-readings.ts'
import type { QuarantineReasons } from '../../state/quarantine-reasons.ts'
import type { DayWatched } from '../../state/read-watch-hours.ts'
import type { DayActivity, RunReport } from '../../state/run-reports.ts'

/** A job as the page shows it. */
export interface JobView {
  readonly name: string
  readonly cron: string
  /** IANA. */
  readonly timeZone: string
  /** What it keeps up to date; empty for one that is not run by itself, or reads old days only. */
  readonly streams: readonly StreamName[]
  readonly channels: 'all' | readonly string[] | { readonly group: string }
  /** Undefined for a job that is not run by itself. */
  readonly next: Date | undefined
  readonly isRunning: boolean
  /** Undefined before its first run. */
  readonly last: { readonly startedAt: Date; readonly status: RunReport['status'] | 'interrupted' } | undefined
}

/** Everything that a page shows, read at one time. */
export interface Facts extends Overview {
  readonly walkDays: readonly WalkDay[]
  readonly activity: readonly DayActivity[]
  /** Undefined where it could not be read in time. */
  readonly watched: readonly DayWatched[] | undefined
  readonly quarantine: QuarantineReasons
  readonly jobs: readonly JobView[]
}

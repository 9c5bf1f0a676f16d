import type { StreamName } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import type { DayActivity } from '../../state/read-daily-activity.ts'
import type { LedgerUnit } from '../../state/read-ledger-overview.ts'
import type { ListedChannel } from '../../state/read-channel-list.ts'
import type { OpenReading } from '../../state/read-open-readings.ts'
import type { QuarantineReasons } from '../../state/read-quarantine-reasons.ts'
import type { RunReport } from '../../state/read-run-reports.ts'
import type { TableSize } from '../../state/read-table-sizes.ts'
import type { WalkDay } from '../../state/read-walk-days.ts'
import type { DayWatched } from '../../state/read-watch-hours.ts'

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

/** The calls that version 1 of the watch records leaves for today (API 4.6). */
export interface BudgetView {
  /** A day. */
  readonly calls: number
  /** Where each channel has its own, of the one with least. */
  readonly left: number
  readonly isPerChannel: boolean
}

/** Everything that a page shows, read at one time. */
export interface Facts {
  readonly readAtMs: number
  /** The service's; UTC before the first run. */
  readonly timeZone: string
  /** What the service's wall clock showed when this was read. */
  readonly now: WallTime
  readonly channels: readonly ListedChannel[]
  /** Of active channels and the account. */
  readonly units: readonly LedgerUnit[]
  /** Gaps, problems and accepted shortfalls of the same, the newest first. */
  readonly open: readonly OpenReading[]
  readonly walkDays: readonly WalkDay[]
  readonly runs: readonly RunReport[]
  readonly activity: readonly DayActivity[]
  /** Undefined where it could not be read in time. */
  readonly watched: readonly DayWatched[] | undefined
  readonly quarantine: QuarantineReasons
  readonly sizes: ReadonlyMap<string, TableSize>
  readonly jobs: readonly JobView[]
  readonly budget: BudgetView
}

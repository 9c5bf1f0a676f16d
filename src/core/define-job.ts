/** Values by stream name. A stream that is not named keeps its own value. */
export type PerStream = Readonly<Record<string, number>>

/** Which configured channels a job reads: all of them, those of one group, or a list of ids. */
export type JobChannels = 'all' | { readonly group: string } | readonly string[]

/** Dates in the service's calendar (`YYYY-MM-DD`, `to` exclusive), or a number of days up to and including today. */
export type JobRange = { readonly from?: string; readonly to?: string } | { readonly lastDays: number }

interface AnyJob {
  /** Five fields (minute, hour, day of month, month, day of week), or `@daily` and the like. */
  readonly cron: string
  /** The IANA time zone of `cron`; the service's by default. */
  readonly timezone?: string
  /** Whether `livehouse serve` runs the job (`livehouse run` always does); true by default. */
  readonly enabled?: boolean
  /** By default those that the command of this kind reads. */
  readonly streams?: readonly string[]
  /** All by default. */
  readonly channels?: JobChannels
  /** `once` (the default): after missed runs, the latest one is made up for; `never`: missed runs are skipped. */
  readonly catchUp?: 'once' | 'never'
}

/** Brings streams up to date. */
export interface SyncJob extends AnyJob {
  readonly kind?: 'sync'
  /** `HH:MM` by the service's clock. No slice begins after it, and the next run continues from there. */
  readonly until?: string
  /** For how many days rows may still change, so that they are read again. */
  readonly lookbackDays?: PerStream
}

/** Reads a range of time-filtered streams again. */
export interface BackfillJob extends AnyJob {
  readonly kind: 'backfill'
  readonly range: JobRange
  /** Whether only ranges that are not yet covered are read. */
  readonly onlyGaps?: boolean
}

/** Compares the service's totals with the warehouse. The next sync reads the ranges that differ again. */
export interface AuditJob extends AnyJob {
  readonly kind: 'audit'
  /** By default everything that is covered. */
  readonly range?: JobRange
}

/** The definition in a file of `jobs/`. */
export type JobDefinition = SyncJob | BackfillJob | AuditJob

/** A job as the scheduler sees it: the validated definition from its file, with the defaults filled in. */
export interface Job {
  /** The name of its file. */
  readonly name: string
  readonly kind: 'sync' | 'backfill' | 'audit'
  readonly cron: string
  /** An IANA name. */
  readonly timeZone: string
  readonly isEnabled: boolean
  readonly catchUp: 'once' | 'never'
  readonly definition: JobDefinition
}

/** Types and freezes the definition in a job file. The scheduler validates it when it loads the file. */
export function defineJob<const Definition extends JobDefinition>(definition: Definition): Definition {
  return Object.freeze(definition)
}

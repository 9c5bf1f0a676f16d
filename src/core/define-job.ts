/** By the name of a stream; those that are not named keep their own. */
export type PerStream = Readonly<Record<string, number>>

/** Which of the configured channels: all of them, those of a group, or these. */
export type JobChannels = 'all' | { readonly group: string } | readonly string[]

/** Dates of the service's calendar, `YYYY-MM-DD`, `to` exclusive; or the last days, today's among them. */
export type JobRange = { readonly from?: string; readonly to?: string } | { readonly lastDays: number }

interface AnyJob {
  /** Five fields (minute, hour, day of month, month, day of week), or `@daily` and the like. */
  readonly cron: string
  /** An IANA zone, in which `cron` is read; the service's when not given. */
  readonly timezone?: string
  /** Whether `livehouse serve` runs it; `livehouse run` does in any case. True when not given. */
  readonly enabled?: boolean
  /** Those of the command of its kind when not given. */
  readonly streams?: readonly string[]
  /** All when not given. */
  readonly channels?: JobChannels
  /** `once`: of the times that were missed, the last one is run late; `never`: none is. `once` when not given. */
  readonly catchUp?: 'once' | 'never'
}

/** Brings streams up to date. */
export interface SyncJob extends AnyJob {
  readonly kind?: 'sync'
  /** `HH:MM` of the service's clock: from then on nothing is begun; the next run does what is left. */
  readonly until?: string
  /** How long rows still change and are read again, in days. */
  readonly lookbackDays?: PerStream
}

/** Reads a range of time-filtered streams again. */
export interface BackfillJob extends AnyJob {
  readonly kind: 'backfill'
  readonly range: JobRange
  /** Reads only what is not covered. */
  readonly onlyGaps?: boolean
}

/** Compares the service's totals with the warehouse; the next sync reads again what differs. */
export interface AuditJob extends AnyJob {
  readonly kind: 'audit'
  /** All that is covered when not given. */
  readonly range?: JobRange
}

/** What a file of `jobs/` holds. */
export type JobDefinition = SyncJob | BackfillJob | AuditJob

/** A job as the scheduler has it: what its file says, checked, with what the file leaves open filled in. */
export interface Job {
  /** That of its file. */
  readonly name: string
  readonly kind: 'sync' | 'backfill' | 'audit'
  readonly cron: string
  /** IANA. */
  readonly timeZone: string
  readonly isEnabled: boolean
  readonly catchUp: 'once' | 'never'
  readonly definition: JobDefinition
}

/** Makes the value of a job file: typed, and frozen. It is checked when it is loaded. */
export function defineJob<const Definition extends JobDefinition>(definition: Definition): Definition {
  return Object.freeze(definition)
}

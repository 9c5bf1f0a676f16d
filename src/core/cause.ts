/** What an operator should hear of without asking. Ids and counts, never personal data or a text of the service. */
export type Cause =
  /** The last run of a command (`sync`, `run nightly`) is not green. `problems`: how many of each code, by stream. */
  | {
      readonly kind: 'run'
      readonly name: string
      readonly status: 'partial' | 'failed'
      /** Null where it failed before a run began, or never came to its end. */
      readonly runId: string | null
      /** Why, in livehouse's words, where there is no run that says so. */
      readonly reason?: string
      readonly problems: readonly { readonly stream: string | null; readonly code: string; readonly count: number }[]
    }
  /**
   * Not all of a stream was read on the service's day by the hour that a job names (`HH:MM`). `provenAt`: ISO instant
   * of the last reading of any of it. `unproven`: of how many channels of those expected some is missing; not there
   * where all is.
   */
  | {
      readonly kind: 'stale'
      readonly job: string
      readonly stream: string
      readonly provenBy: string
      readonly provenAt: string | null
      readonly unproven?: { readonly channels: number; readonly of: number }
    }
  /** A field that the service's documents do not name. */
  | { readonly kind: 'unknownField'; readonly stream: string; readonly field: string }
  /** A configured channel that the service no longer knows. */
  | { readonly kind: 'channelGone'; readonly channel: string }
  /** A job that had to end before it was done, so many times in a row. */
  | { readonly kind: 'unfinished'; readonly job: string; readonly runs: number }
  /** The database does not answer a machine, or refuses all that it asks: `sqlState`, else null. */
  | { readonly kind: 'database'; readonly host: string; readonly sqlState: string | null }

/** The same text for the same cause, however its facts change. */
export function keyOfCause(cause: Cause): string {
  switch (cause.kind) {
    case 'run':
      return `run=${cause.name}`
    case 'stale':
      return `stale=${cause.job}/${cause.stream}`
    case 'unknownField':
      return `field=${cause.stream}/${cause.field}`
    case 'channelGone':
      return `channel=${cause.channel}`
    case 'unfinished':
      return `unfinished=${cause.job}`
    case 'database':
      return `database=${cause.host}`
  }
}

/** A message that is due: that a cause has arisen, or that it is over. */
export interface Notice {
  readonly event: 'raised' | 'cleared'
  readonly cause: Cause
  /** When the cause arose, or was over. */
  readonly at: Date
}

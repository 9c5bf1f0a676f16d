/** What an operator is alerted to. Holds ids and counts, never personal data or text from the service. */
export type Cause =
  /** The last run of a command (`sync`, `run nightly`) is not green. `problems`: how many of each code, by stream. */
  | {
      readonly kind: 'run'
      readonly name: string
      readonly status: 'partial' | 'failed'
      /** Null if the command failed before a run began, or never finished. */
      readonly runId: string | null
      /** Why it failed, in livehouse's own words, if no run records it. */
      readonly reason?: string
      readonly problems: readonly { readonly stream: string | null; readonly code: string; readonly count: number }[]
    }
  /** A field that the service's documents do not name. */
  | { readonly kind: 'unknownField'; readonly stream: string; readonly field: string }
  /** A configured channel that the service no longer knows. */
  | { readonly kind: 'channelGone'; readonly channel: string }

/** Identifies a cause: the key stays the same while the facts of the cause change. */
export function keyOfCause(cause: Cause): string {
  switch (cause.kind) {
    case 'run':
      return `run=${cause.name}`
    case 'unknownField':
      return `field=${cause.stream}/${cause.field}`
    case 'channelGone':
      return `channel=${cause.channel}`
  }
}

/** A message that must be sent: a cause has arisen, or is over. */
export interface Notice {
  readonly event: 'raised' | 'cleared'
  readonly cause: Cause
  /** When the cause arose or ended. */
  readonly at: Date
}

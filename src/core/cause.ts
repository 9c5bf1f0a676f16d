/** What an operator is alerted to. Ids and counts, never personal data or text of the service. */
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
  /** A field that the service's documents do not name. */
  | { readonly kind: 'unknownField'; readonly stream: string; readonly field: string }
  /** A configured channel that the service no longer knows. */
  | { readonly kind: 'channelGone'; readonly channel: string }

/** The same text for the same cause, however its facts change. */
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

/** A message that is due: that a cause has arisen, or that it is over. */
export interface Notice {
  readonly event: 'raised' | 'cleared'
  readonly cause: Cause
  /** When the cause arose, or was over. */
  readonly at: Date
}

/** Counts what a slice asks of the service. */
export interface CallMeter {
  readonly onAttempt: (attempt: number) => void
  /** Every attempt that went out, and those after the first of a call. */
  readonly counts: () => { readonly calls: number; readonly retries: number }
}

export function createCallMeter(): CallMeter {
  let calls = 0
  let retries = 0
  return {
    onAttempt: (attempt) => {
      calls++
      if (attempt > 1) retries++
    },
    counts: () => ({ calls, retries }),
  }
}

import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises'

/** The only source of time. Tests pass a clock that they advance by hand. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: () => number
  /** Milliseconds since an arbitrary start, unaffected by clock adjustments; `now` is used if this is missing. */
  readonly monotonicMs?: () => number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

export const systemClock: Required<Clock> = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => await delay(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
}

/** Lets pending events run. Takes two rounds of the loop, as a reused connection is free only after the first. */
export async function yieldToEventLoop(): Promise<void> {
  await nextRound()
  await nextRound()
}

/**
 * Calls `action` after `ms` of real time. The timer does not keep the process alive.
 * @returns a function that cancels the call
 */
export function callIfStillRunning(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms).unref()
  return () => clearTimeout(timer)
}

/**
 * Calls `action` once the signal aborts. The runtime keeps the listeners of a signal in a linked list, and a removed
 * listener still points to those after it: whatever they hold, such as whole answers, would stay in memory until a full
 * collection. So a cancelled listener drops its action.
 * @returns a function that cancels the call
 */
export function whenAborted(signal: AbortSignal, action: () => void): () => void {
  let pending: (() => void) | undefined = action
  const listener = (): void => pending?.()
  signal.addEventListener('abort', listener)
  return () => {
    pending = undefined
    signal.removeEventListener('abort', listener)
  }
}

/** Waits for `promise` until `signal` aborts. The work then continues for other callers, and its failure is ignored. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {})
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stopListening = whenAborted(signal, () => reject(signal.reason))
  try {
    return await Promise.race([promise, aborted])
  } finally {
    stopListening()
  }
}

/** Returns the result of `work`, or `otherwise` if it takes longer than `ms`. The work itself is not stopped. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  const enough = new AbortController()
  const tooLate = clock.sleep(ms, enough.signal).catch(() => {})
  try {
    return await Promise.race([work, tooLate.then(() => otherwise)])
  } finally {
    enough.abort()
  }
}

import { setImmediate as nextRound, setTimeout as delay } from 'node:timers/promises'

/** The only source of time. Tests pass one that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: () => number
  /** Milliseconds since some start, which no adjustment of the clock moves; `now` where it is not given. */
  readonly monotonicMs?: () => number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

export const systemClock: Required<Clock> = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => await delay(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
}

/** Lets waiting events be handled. Two rounds, as a reused connection is free only after one. */
export async function yieldToEventLoop(): Promise<void> {
  await nextRound()
  await nextRound()
}

/**
 * Calls `action` after `ms` of real time, if the process is still there: the timer does not keep it alive.
 * @returns cancels it
 */
export function callIfStillRunning(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms).unref()
  return () => clearTimeout(timer)
}

/**
 * Calls `action` once the signal aborts. The runtime chains the listeners of a signal, and a removed one still points
 * to those after it: what they hold, such as whole answers, would stay in memory until a full collection. So a listener
 * that is cancelled drops its action.
 * @returns cancels it
 */
export function whenAborted(signal: AbortSignal, action: () => void): () => void {
  let wanted: (() => void) | undefined = action
  const listener = (): void => wanted?.()
  signal.addEventListener('abort', listener)
  return () => {
    wanted = undefined
    signal.removeEventListener('abort', listener)
  }
}

/** Waits for `promise` until `signal` aborts; the work goes on for others, and its failure is then ignored. */
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

/** The result of `work`, or `otherwise` where that takes longer than `ms`; the work is not stopped. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  const enough = new AbortController()
  const tooLate = clock.sleep(ms, enough.signal).catch(() => {})
  try {
    return await Promise.race([work, tooLate.then(() => otherwise)])
  } finally {
    enough.abort()
  }
}

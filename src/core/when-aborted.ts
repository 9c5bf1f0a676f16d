/**
 * Calls `action` once the signal aborts. A signal that lasts gets many listeners, and the runtime chains them: one that
 * was taken off still points to those that came after it. Where the collector has moved one among the old, all that
 * these hold, such as whole answers, stays in memory until everything is collected; so a listener that is called off
 * lets go of its action.
 * @returns calls it off
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

/** Waits for `promise` no longer than `signal` allows; the work itself goes on for the others, and may fail unheard. */
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

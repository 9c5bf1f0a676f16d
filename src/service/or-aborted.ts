import { whenAborted } from '../core/when-aborted.ts'

/** Waits for `promise` no longer than `signal` allows; the work itself goes on for the others. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stopListening = whenAborted(signal, () => reject(signal.reason))
  try {
    return await Promise.race([promise, aborted])
  } finally {
    stopListening()
  }
}

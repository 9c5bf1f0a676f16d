import type { Clock } from '../core/clock.ts'

/** What comes of `work`, or `otherwise` where that takes longer than `ms`; the work goes on by itself. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  const enough = new AbortController()
  const tooLate = clock.sleep(ms, enough.signal).then(
    () => otherwise,
    () => otherwise,
  )
  try {
    return await Promise.race([work, tooLate])
  } finally {
    enough.abort()
  }
}

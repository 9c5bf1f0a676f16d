import pLimit from 'p-limit'
import { hasCode } from '../core/errors.ts'
import { orAborted } from '../core/when-aborted.ts'
import type { Permits } from './permits.ts'
import type { Call, Send } from './send.ts'

interface PaceOptions {
  readonly permits: Permits
  /** Calls that may be under way at once; any number without it. */
  readonly concurrency?: number
  /** Waits for what a call needs before it may leave. */
  readonly prepare?: (call: Call, signal: AbortSignal) => Promise<unknown>
}

/** Lets a call leave when the permit source allows it and a place is free, and reports to that source how it ended. */
export function pace(next: Send, options: PaceOptions): Send {
  const { permits, concurrency = Number.POSITIVE_INFINITY, prepare = async () => {} } = options
  const places = pLimit(concurrency)
  return async (call, context) => {
    const { signal } = context
    // At once, so that all calls report together what is wrong with it; and when its turn has come, which may be much
    // later.
    await prepare(call, signal)
    const over = Promise.withResolvers<void>()
    let place: Promise<void> | undefined
    try {
      // Only now: the calls of an endpoint that is slow must not hold every place while they wait for their turn.
      const permit = await permits.take(call, signal, async () => {
        place ??= new Promise((taken) => void places(() => (taken(), over.promise)))
        await orAborted(place, signal)
        await prepare(call, signal)
      })
      try {
        const answer = await next(call, context)
        permit.answered()
        return answer
      } catch (error) {
        if (hasCode(error, 'api.rateLimited')) permit.refused(error.details.retryAfterMs)
        else permit.answered()
        throw error
      }
    } finally {
      over.resolve()
    }
  }
}

import pLimit from 'p-limit'
import { hasCode } from '../core/errors.ts'
import { orAborted } from '../core/when-aborted.ts'
import type { Permits, Preparation } from './permits.ts'
import type { Call, Send } from './send.ts'

interface PaceOptions {
  readonly permits: Permits
  /** Calls that may be under way at once; any number without it. */
  readonly concurrency?: number
  /** What a call has to wait for before it may leave; undefined where there is nothing. */
  readonly preparationOf?: (call: Call) => Preparation | undefined
}

/** Lets a call leave when the permit source allows it and a place is free, and reports to that source how it ended. */
export function pace(next: Send, options: PaceOptions): Send {
  const { permits, concurrency = Number.POSITIVE_INFINITY, preparationOf } = options
  const places = pLimit(concurrency)
  /** @returns gives the place up */
  const takePlace = (): Promise<() => void> =>
    new Promise((taken) => void places(() => new Promise<void>((over) => taken(over))))

  return async (call, context) => {
    const { signal } = context
    const preparation = preparationOf?.(call)
    // At once, so that all calls report together what is wrong with it; and when its turn has come, which may be much later.
    await preparation?.prepare(signal)
    let place: Promise<() => void> | undefined
    const prepare = async (): Promise<void> => {
      // Only now: the calls of an endpoint that is slow must not hold every place while they wait for their turn.
      place ??= takePlace()
      await orAborted(place, signal)
      await preparation?.prepare(signal)
    }
    const isReady = (): boolean => preparation?.isReady() ?? true
    try {
      const permit = await permits.take(call, signal, { prepare, isReady })
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
      void place?.then((leave) => leave())
    }
  }
}

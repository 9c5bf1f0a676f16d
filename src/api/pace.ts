import pLimit from 'p-limit'
import { hasCode } from '../core/errors.ts'
import { whenAborted } from '../core/when-aborted.ts'
import { createFairQueue } from './fair-queue.ts'
import type { Permits, Preparation } from './permits.ts'
import type { Answer, Call, Send } from './send.ts'

export interface RateOptions {
  readonly permits: Permits
  /** What a call has to wait for before it may go; undefined where there is nothing. */
  readonly preparationOf?: (call: Call) => Preparation | undefined
  /** Others wait for these calls. */
  readonly isUrgent?: boolean
}

/** Lets a call out when the permit source allows it, and tells that source how the service took it. */
export function rate(next: Send, { permits, preparationOf, isUrgent = false }: RateOptions): Send {
  return async (call, context) => {
    // At once, so that all learn together what is wrong with it; and when its turn has come, which may be much later.
    const preparation = preparationOf?.(call)
    await preparation?.prepare(context.signal)
    const permit = await permits.take(context.signal, preparation ? { preparation, isUrgent } : { isUrgent })
    try {
      const answer = await next(call, context)
      permit.admitted()
      return answer
    } catch (error) {
      if (hasCode(error, 'api.rateLimited')) permit.refused(error.details.retryAfterMs)
      throw error
    }
  }
}

export interface PaceOptions extends RateOptions {
  readonly concurrency: number
}

/** At most `concurrency` calls at once, at the rate of `permits`, and the channels in turn where more are waiting. */
export function pace(next: Send, { concurrency, ...options }: PaceOptions): Send {
  const limit = pLimit(concurrency)
  const queue = createFairQueue<() => Promise<void>>()
  const rated = rate(next, options)
  // Nothing of a call: what has left p-limit's queue is held by what left before it, until all is collected.
  const takeTurn = async () => queue.take()?.()
  return (call, context) => {
    const { signal } = context
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const remove = queue.add(call.channelId ?? '', async () => {
      stopWaiting()
      await rated(call, context).then(resolve, reject)
    })
    const stopWaiting = whenAborted(signal, () => {
      remove()
      reject(signal.reason)
    })
    // A free place takes whose turn it is, which need not be the call that asked for the place.
    void limit(takeTurn)
    return promise
  }
}

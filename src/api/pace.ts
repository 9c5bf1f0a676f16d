import pLimit from 'p-limit'
import { hasCode } from '../core/errors.ts'
import type { CallContext } from '../core/page.ts'
import { createFairQueue } from './fair-queue.ts'
import type { Permits } from './permits.ts'
import type { Answer, Call, Send } from './send.ts'

/** Lets a call out when the permit source allows it, and tells that source how the service took it. */
export function rate(next: Send, permits: Permits): Send {
  return async (call, context) => {
    const permit = await permits.take(context.signal)
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

export interface PaceOptions {
  readonly concurrency: number
  readonly permits: Permits
  /** What a call has to wait for before it may ask for leave to go. */
  readonly prepare?: (call: Call, context: CallContext) => Promise<void>
}

/** At most `concurrency` calls at once, at the rate of `permits`, and the channels in turn where more are waiting. */
export function pace(next: Send, { concurrency, permits, prepare = async () => {} }: PaceOptions): Send {
  const limit = pLimit(concurrency)
  const queue = createFairQueue<() => Promise<void>>()
  const rated = rate(next, permits)
  return (call, context) => {
    const { signal } = context
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const remove = queue.add(call.channelId ?? '', async () => {
      signal.removeEventListener('abort', giveUp)
      await prepare(call, context)
        .then(() => rated(call, context))
        .then(resolve, reject)
    })
    const giveUp = () => {
      remove()
      reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    // A free place takes whose turn it is, which need not be the call that asked for the place.
    void limit(async () => queue.take()?.())
    return promise
  }
}

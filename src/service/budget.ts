import assert from 'node:assert/strict'
import { hasCode, LivehouseError } from '../core/errors.ts'
import type { Reserve } from '../core/shared-calls.ts'
import type { Send } from './send.ts'
import type { ServiceClock } from './service-clock.ts'

/**
 * Charges every attempt of a 4.6 call to the day's budget before it is made. If the service refuses the call, the day
 * counts as spent, since another client of the account may have used it up; the error has the refusal as its cause.
 * @param reserve required for these calls
 */
export function budget(next: Send, reserve: Reserve | undefined, serviceClock: ServiceClock): Send {
  return async (call, context) => {
    assert(reserve && call.channelId !== undefined, `${call.name} needs a budget that counts its calls`)
    const { signal } = context
    await serviceClock.refresh(signal)
    const reservation = await reserve(call.channelId, serviceClock.now(), signal)
    try {
      return await next(call, context)
    } catch (error) {
      if (!isRefusal(error)) throw error
      await reservation.spendDay()
      const { scope, serviceDay, resumesAt } = reservation
      const message = `${error.message}: the calls of ${serviceDay} are spent; livehouse continues at ${resumesAt}`
      throw new LivehouseError('api.budgetSpent', message, { scope, resumesAt }, { cause: error })
    }
  }
}

/** Whether the service refused this call: any 4xx or error code (API 7) except 401 and an unknown channel. */
function isRefusal(error: unknown): error is LivehouseError {
  if (hasCode(error, 'api.status')) return error.details.status >= 400 && error.details.status < 500
  return error instanceof LivehouseError && ['api.rateLimited', 'api.refused', 'api.forbidden'].includes(error.code)
}

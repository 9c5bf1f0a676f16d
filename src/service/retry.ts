import type { Clock } from '../core/clock.ts'
import { hasCode, isFinalStatus, LivehouseError, recoveryOf } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { CallContext } from '../core/page.ts'
import { FORGET_MS } from './call-rate.ts'
import { MAX_RETRY_AFTER_MS } from './failure.ts'
import type { Call } from './send.ts'
import { isOfTokenCall, TOKEN_CALL } from './tokens.ts'

const MAX_ATTEMPTS: Readonly<Record<Call['retries'], number>> = { token: 8, read: 5, idempotent: 5, once: 2, never: 1 }
/** The most attempts of a read or a token call if an undocumented errcode, or an answer without a token, refuses it. */
const MAX_ERRCODE_ATTEMPTS = 3
const FIRST_WAIT_MS = 500
/** This many refusals in a row (one call's attempts) may be due to the token: it is renewed, once in `RENEWAL_MS`. */
const SUSPICIOUS_REFUSALS = MAX_ERRCODE_ATTEMPTS
const RENEWAL_MS = 5 * 60_000
/** This many retries within `STORM_MS` are worth a warning; so is a `Retry-After` of that length. */
const STORM_RETRIES = 20
const STORM_MS = MAX_RETRY_AFTER_MS

export interface RetryOptions {
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1, exclusive. */
  readonly random: () => number
  /** How long a 429 uses up no attempt: by default as long as a pace is remembered, less if a person is waiting. */
  readonly longestRefusedMs?: number | undefined
  /** Fetches another token after calls in a row were refused with undocumented codes. It may fail. */
  readonly renewToken?: ((context: CallContext) => Promise<unknown>) | undefined
}

/**
 * Retries a call after a failure that may be temporary: no connection, 408, 425, 429, 5xx, a damaged body or web page,
 * an unknown errcode; and, once, a 401 or a series of refusals if there is a new token. The error counts the attempts.
 */
export function retry<Named extends Pick<Call, 'name' | 'retries'>, Result>(
  next: (call: Named, context: CallContext) => Promise<Result>,
  { clock, log, random, longestRefusedMs = FORGET_MS, renewToken }: RetryOptions,
): (call: Named, context: CallContext) => Promise<Result> {
  const warn = createWarning(clock, log)
  // A service that is away is waited for once it has answered, unless a person is waiting.
  const isPatient = longestRefusedMs >= FORGET_MS
  let hasAnswered = false
  let waitedInVainAtMs = -Infinity
  let refusals = 0
  let renewedAtMs = -Infinity
  const hasNewToken = async ({ signal }: CallContext): Promise<boolean> => {
    refusals += 1
    const isDue = refusals >= SUSPICIOUS_REFUSALS && clock.now() - renewedAtMs >= RENEWAL_MS
    if (renewToken === undefined || !isDue) return false
    renewedAtMs = clock.now()
    // If that fails, the refusal stands, and the old token stays in use.
    return await renewToken({ signal }).then(
      () => true,
      () => false,
    )
  }
  return async (call, context) => {
    let isRenewed = false
    let failures = 0
    let limitedSinceMs: number | undefined
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await next(call, { ...context, onAttempt: () => context.onAttempt?.(attempt) })
        hasAnswered = true
        refusals = 0
        return result
      } catch (error) {
        context.signal.throwIfAborted()
        if (!(error instanceof LivehouseError)) throw error
        const isOfOldToken = hasCode(error, 'api.unauthorized') && error.details.isRenewable === true
        const isUnknownRefusal = hasCode(error, 'api.refused') && call.retries === 'read'
        const canRenew: boolean = !isRenewed && (isOfOldToken || (isUnknownRefusal && (await hasNewToken(context))))
        // The token call has been retried already, by its own `retry`.
        if (call.name !== TOKEN_CALL && isOfTokenCall(error)) throw error
        const isRepeatable = ['read', 'idempotent'].includes(call.retries)
        const isLimited: boolean = hasCode(error, 'api.rateLimited') && isRepeatable
        const mayWait = isPatient && hasAnswered && clock.now() - waitedInVainAtMs >= FORGET_MS
        const isWaitedFor = mayWait && isRepeatable && isAway(error)
        const retries = isWaitedFor ? 'token' : call.retries
        limitedSinceMs = isLimited ? (limitedSinceMs ?? clock.now()) : undefined
        if (!canRenew && !isLimited) failures += 1
        const isExhausted =
          limitedSinceMs === undefined
            ? failures >= maxAttempts(retries, error)
            : clock.now() + askedWait(error) - limitedSinceMs >= longestRefusedMs
        if (isExhausted && isWaitedFor) waitedInVainAtMs = clock.now()
        if (isExhausted && !canRenew) throw finalError(error, attempt)
        isRenewed ||= canRenew
        const waitMs = canRenew ? 0 : waitBefore(error, retries, Math.max(1, failures), random)
        log.debug('call.retry', { call: call.name, attempt, code: error.code, waitMs })
        warn(error)
        await clock.sleep(waitMs, context.signal)
      }
    }
  }
}

/** Whether nobody answers or says when, as while a service restarts. A 504 is rather due to what was asked for. */
function isAway(error: LivehouseError): boolean {
  if (hasCode(error, 'api.status')) return [502, 503].includes(error.details.status) && askedWait(error) === 0
  return hasCode(error, 'api.unreachable')
}

function maxAttempts(retries: Call['retries'], error: LivehouseError): number {
  if (['api.noToken', 'api.wrongAuthUrl'].includes(error.code)) return MAX_ERRCODE_ATTEMPTS
  if (hasCode(error, 'api.refused')) return retries === 'read' ? MAX_ERRCODE_ATTEMPTS : 1
  // A web page comes from something in between: the service answers in JSON.
  const isPassing = hasCode(error, 'api.status') && (!isFinalStatus(error) || error.details.isWebPage)
  return isPassing || recoveryOf[error.code] === 'retry' ? MAX_ATTEMPTS[retries] : 1
}

/**
 * Full jitter, so that calls that failed together do not retry together, on top of the wait that the service asks for.
 * The token call, and reads while the service is away, wait at least half of their backoff: half a minute in all.
 */
function waitBefore(error: LivehouseError, retries: Call['retries'], attempt: number, random: () => number): number {
  const askedMs = askedWait(error)
  if (retries === 'token') return askedMs + ((1 + random()) / 2) * FIRST_WAIT_MS * 2 ** (attempt - 1)
  return askedMs + random() * FIRST_WAIT_MS * (askedMs > 0 ? 1 : 2 ** (attempt - 1))
}

/** The wait that the service asks for, in milliseconds; 0 if it names none. */
function askedWait({ details }: LivehouseError): number {
  return 'retryAfterMs' in details ? (details.retryAfterMs ?? 0) : 0
}

function finalError(error: LivehouseError, attempts: number): LivehouseError {
  if (attempts === 1) return error
  const suffix = recoveryOf[error.code] === 'abort' ? ` (asked ${attempts} times)` : ` after ${attempts} attempts`
  return new LivehouseError(error.code, error.message + suffix, error.details, { cause: error })
}

function createWarning(clock: Clock, log: Log): (error: LivehouseError) => void {
  let retries = 0
  let since = clock.now()
  let pausedUntilMs = 0
  return (error) => {
    const now = clock.now()
    if (askedWait(error) >= STORM_MS) {
      if (now > pausedUntilMs) log.warn('calls.paused', { reason: error.message, askedAgainAfterMs: askedWait(error) })
      pausedUntilMs = now + 2 * askedWait(error)
    }
    if (now - since >= STORM_MS) {
      retries = 0
      since = now
    }
    retries += 1
    if (retries === STORM_RETRIES)
      log.warn('calls.retryStorm', { retries, withinMs: now - since, lastCode: error.code, last: error.message })
  }
}

import type { Clock } from '../core/clock.ts'
import { hasCode, isFinalStatus, LivehouseError, recoveryOf } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { CallContext } from '../core/page.ts'
import type { Call, Send } from './send.ts'
import { isOfTokenCall, noCredentials, TOKEN_CALL, type Tokens } from './tokens.ts'

const MOST_ATTEMPTS: Readonly<Record<Call['repeat'], number>> = { read: 5, idempotent: 5, once: 2, never: 1 }
/** Attempts of reads, and of calls for a token, after an errcode that the spec does not name: it may pass. */
const MOST_ERRCODE_ATTEMPTS = 3
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000
/** A 429 uses up no attempt until the service has refused the call for this long. */
const LONGEST_RATE_LIMITED_MS = 600_000
/** So many repetitions within `STORM_MS` are worth a warning; so is a service that asks to wait as long. */
const STORM_RETRIES = 20
const STORM_MS = 60_000

export interface RetryOptions {
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1, exclusive. */
  readonly random: () => number
  /** How long a call is repeated while the service refuses it with 429: ten minutes, less where a person waits. */
  readonly longestRefusedMs?: number | undefined
}

/**
 * Repeats a call whose failure may pass: of transport, 408, 425, 429, 5xx, a damaged body, and a 401 once where the
 * next attempt has a new token. The last error says after how many attempts.
 */
export function retry<Named extends Pick<Call, 'name' | 'repeat'>, Result>(
  next: (call: Named, context: CallContext) => Promise<Result>,
  { clock, log, random, longestRefusedMs = LONGEST_RATE_LIMITED_MS }: RetryOptions,
): (call: Named, context: CallContext) => Promise<Result> {
  const warn = createWarning(clock, log)
  return async (call, context) => {
    let isRenewed = false
    let failures = 0
    /** Failures to fetch a token, which use up none of the call's own attempts: it was not sent. */
    let tokenFailures = 0
    let refusedSinceMs: number | undefined
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await next(call, { ...context, onAttempt: () => context.onAttempt?.(attempt) })
      } catch (error) {
        context.signal.throwIfAborted()
        if (!(error instanceof LivehouseError)) throw error
        const canRenew: boolean = !isRenewed && hasCode(error, 'api.unauthorized') && error.details.isRenewable === true
        const isOfToken = call.name !== TOKEN_CALL && isOfTokenCall(error)
        const repeat = isOfToken ? 'read' : call.repeat
        const isRefused: boolean = hasCode(error, 'api.rateLimited') && MOST_ATTEMPTS[repeat] > 2
        refusedSinceMs = isRefused ? (refusedSinceMs ?? clock.now()) : undefined
        if (isOfToken && !isRefused) tokenFailures += 1
        else if (!canRenew && !isRefused) failures += 1
        const used = isOfToken ? tokenFailures : failures
        const isOver =
          refusedSinceMs === undefined
            ? used >= mostAttempts(repeat, error)
            : clock.now() + askedWait(error) - refusedSinceMs >= longestRefusedMs
        if (isOver && !canRenew) throw finalError(error, attempt)
        isRenewed ||= canRenew
        const waitMs = canRenew ? 0 : waitBefore(error, Math.max(1, used), random)
        log.debug('call.retry', { call: call.name, attempt, code: error.code, waitMs })
        warn(error)
        await clock.sleep(waitMs, context.signal)
      }
    }
  }
}

function mostAttempts(repeat: Call['repeat'], error: LivehouseError): number {
  if (hasCode(error, 'api.noToken')) return MOST_ERRCODE_ATTEMPTS
  if (hasCode(error, 'api.refused')) return repeat === 'read' ? MOST_ERRCODE_ATTEMPTS : 1
  const isPassing = hasCode(error, 'api.status') ? !isFinalStatus(error) : recoveryOf[error.code] === 'retry'
  return isPassing ? MOST_ATTEMPTS[repeat] : 1
}

/** Full jitter, so that calls that failed together are not repeated together; not less than the service asks for. */
function waitBefore(error: LivehouseError, attempt: number, random: () => number): number {
  const jitter = random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
  const asked = askedWait(error)
  return asked > 0 ? asked + random() * FIRST_WAIT_MS : jitter
}

/** Milliseconds; 0 where the service names none. */
function askedWait({ details }: LivehouseError): number {
  return 'retryAfterMs' in details ? (details.retryAfterMs ?? 0) : 0
}

function finalError(error: LivehouseError, attempts: number): LivehouseError {
  if (attempts === 1) return error
  const message = `${error.message} after ${attempts} attempts`
  return new LivehouseError(error.code, message, error.details, { cause: error })
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
    if (retries === STORM_RETRIES) {
      log.warn('calls.retryStorm', { retries, withinMs: now - since, lastCode: error.code, last: error.message })
    }
  }
}

export interface TokenOptions {
  /** For the bearer header of 4.3 to 4.12. */
  readonly bearer: Tokens
  /** For 4.2, which takes the app id and a fetched token as parameters; undefined without credentials. */
  readonly ticket: (Tokens & { readonly appId: string }) | undefined
}

/**
 * Gives every attempt a token. On a 401 a fetched token is rejected, and the error says that the next attempt has
 * another one; `retry` makes it, so that it is paced and counted like any other.
 */
export function token(next: Send, { bearer, ticket }: TokenOptions): Send {
  return async (call, context) => {
    if (call.authorization === 'none') return next(call, context)
    const isTicket = call.authorization === 'query'
    const tokens = isTicket ? ticket : bearer
    if (!tokens) throw noCredentials(`, but ${call.name} needs them`)
    const issued = await tokens.current(context.signal)
    const authorized =
      isTicket && ticket
        ? { ...call, query: { ...call.query, appid: ticket.appId, token: issued.value } }
        : { ...call, bearer: issued.value }
    try {
      return await next(authorized, context)
    } catch (error) {
      if (!hasCode(error, 'api.unauthorized')) throw error
      const isRenewable = tokens.reject(issued)
      const advice = isRenewable
        ? 'the token that the service issued is not accepted; check whether this account needs LIVEHOUSE_API_TOKEN'
        : 'the token is not accepted; check LIVEHOUSE_API_TOKEN'
      const details = { ...error.details, isRenewable }
      throw new LivehouseError('api.unauthorized', `${error.message}: ${advice}`, details, { cause: error })
    }
  }
}

import { type Clock, orAborted } from '../core/clock.ts'
import { hasCode, isFinalStatus, LivehouseError, recoveryFrom } from '../core/errors.ts'
import type { CallContext } from '../core/page.ts'
import type { AccessToken, TokenStore } from '../core/shared-calls.ts'
import type { Answer, Call, Send } from './send.ts'

/** A token is renewed when a quarter of its validity is left, but not earlier than this before its end. */
const MAX_EARLY_RENEWAL_MS = 5 * 60_000

/** A token as a call received it, compared by identity: a later one may have the same value. */
type IssuedToken = Pick<AccessToken, 'value'>

interface Tokens {
  /** Returns a valid token. If a fetch is due, all callers wait for the same one. */
  readonly current: (signal: AbortSignal) => Promise<IssuedToken>
  /** Reports that the service refused this token. @returns whether `current` can provide another one */
  readonly reject: (token: IssuedToken) => boolean
}

/** The error for missing credentials. @param why completes "are not set" */
export function noCredentials(why = ''): LivehouseError<'config.invalid'> {
  const problem =
    `LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET are not set${why}: set both, and LIVEHOUSE_AUTH_URL; ` +
    'for reading, LIVEHOUSE_API_TOKEN will do'
  return new LivehouseError('config.invalid', 'a setting is missing or wrong', { problems: [problem] })
}

/**
 * Adds a token to every attempt. On a 401 the token is rejected, and the error says whether the next attempt can have
 * another one. `retry` makes that attempt, so that it is paced and counted like any other.
 * @param bearer for the header of 4.3 to 4.12
 * @param ticket for 4.2, which takes app id and token as parameters; undefined without credentials
 */
export function token(next: Send, bearer: Tokens, ticket?: Tokens & { readonly appId: string }): Send {
  return async (call, context) => {
    const isTicket = call.authorization === 'query'
    const tokens = isTicket ? ticket : bearer
    if (!tokens) throw noCredentials(`, but ${call.name} needs them`)
    const issued = await tokens.current(context.signal)
    const authorized = isTicket
      ? { ...call, query: { ...call.query, appid: ticket?.appId, token: issued.value } }
      : { ...call, bearer: issued.value }
    return next(authorized, context).catch((error: unknown) => {
      if (!hasCode(error, 'api.unauthorized')) throw error
      const isRenewable = tokens.reject(issued)
      const advice = isRenewable
        ? 'the token that the service issued is not accepted; check whether this account needs LIVEHOUSE_API_TOKEN'
        : 'the token is not accepted; check LIVEHOUSE_API_TOKEN'
      const details = { ...error.details, isRenewable }
      throw new LivehouseError('api.unauthorized', `${error.message}: ${advice}`, details, { cause: error })
    })
  }
}

export interface TokensOptions {
  readonly appId: string
  readonly appSecret: string
  /** Shown in messages. */
  readonly authUrl: string | null
  readonly send: Send
  /** Retries a fetch while its failure may be temporary. */
  readonly retry: (fetch: FetchToken, context: CallContext) => Promise<AccessToken>
  readonly store: TokenStore
  readonly clock: Clock
  /** Called with each token in use, whichever process fetched it, so that no message shows it. */
  readonly addSecret: (value: string, kind: 'passing') => void
  /** Ends a fetch in flight. A caller's signal does not: others may wait for the same fetch. */
  readonly closed: AbortSignal
}

export type FetchToken = (context: CallContext) => Promise<AccessToken>

/**
 * Provides tokens of 4.1: one fetch serves all calls that wait, and renews the token before it expires. Clients are to
 * limit how often they ask (API 4.1), so a fetch that fails for good ends the run (`api.noToken`), not one call.
 */
export function fetchTokens(options: TokensOptions) {
  const { appId, retry, store, clock, addSecret, closed } = options
  const requestToken = createTokenRequest(options)
  let currentToken: AccessToken | undefined
  let rejected: AccessToken | undefined
  let pendingFetch: Promise<AccessToken> | undefined
  /** When to try a failed renewal again. */
  let renewAtMs = Number.NEGATIVE_INFINITY

  const isValid = (token: AccessToken | undefined, earlyMs = 0): token is AccessToken =>
    token !== undefined && token.value !== rejected?.value && clock.now() < token.expiresAtMs - earlyMs
  const isFresh = (token: AccessToken | undefined): token is AccessToken =>
    token !== undefined && isValid(token, Math.min((token.expiresAtMs - token.issuedAtMs) / 4, MAX_EARLY_RENEWAL_MS))
  /** @param isNew fetches a token even if there is a fresh one */
  const fetch = async (context: CallContext, isNew: boolean): Promise<AccessToken> => {
    const shared = isNew ? undefined : await store.read(context.signal)
    const make = async (stored?: AccessToken) => (!isNew && isFresh(stored) ? stored : await requestToken(context))
    currentToken = isFresh(shared) ? shared : await store.replace(make, context.signal)
    addSecret(currentToken.value, 'passing')
    rejected = undefined
    return currentToken
  }
  return {
    appId,
    current: async (signal: AbortSignal): Promise<AccessToken> => {
      if (isFresh(currentToken) || (isValid(currentToken) && clock.now() < renewAtMs)) return currentToken
      pendingFetch ??= retry(async (attempt) => await fetch(attempt, false), { signal: closed })
        .catch(async (error: unknown) => {
          if (!isValid(currentToken)) return await Promise.reject(asRunError(error))
          // The old token is still valid: it stays in use for half of the time that it has left.
          renewAtMs = (clock.now() + currentToken.expiresAtMs) / 2
          return currentToken
        })
        .finally(() => (pendingFetch = undefined))
      return await orAborted(pendingFetch, signal)
    },
    /** Fetches a new token even if there is a fresh one, and shares it. */
    renew: async (context: CallContext): Promise<AccessToken> =>
      await fetch({ ...context, signal: AbortSignal.any([closed, context.signal]) }, true),
    reject: (token: IssuedToken): boolean => {
      // A late answer to an older token says nothing about the current one.
      if (token === currentToken) rejected = currentToken
      return true
    },
  }
}

function asRunError(error: unknown): unknown {
  if (!(error instanceof LivehouseError) || recoveryFrom(error) === 'abort') return error
  const message = `${error.message}; no call can be made without a token, and the next run asks again`
  return new LivehouseError('api.noToken', message, { call: TOKEN_CALL }, { cause: error })
}

/** How messages and errors name API 4.1. */
export const TOKEN_CALL = 'GET token'
/** The validity by API 3.1, if the answer's `expire_time` cannot be read. */
const DEFAULT_VALIDITY_SECONDS = 7200
/** Long enough for the call that waits for the token to use it. */
const MIN_VALIDITY_SECONDS = 1
/** Ten years: a later date may not fit into a column. */
const MAX_VALIDITY_SECONDS = 315_576_000

/**
 * Creates the function that requests a token with the app id and secret (API 4.1).
 * @throws LivehouseError, from that function, `api.credentialsRefused` if the service does not accept them,
 * `api.noToken` if it refuses with a code that does not blame them, `api.wrongAuthUrl` if the address issues no tokens
 */
function createTokenRequest(options: TokensOptions): FetchToken {
  const call: Call = {
    endpoint: 'token',
    name: TOKEN_CALL,
    method: 'GET',
    host: 'auth',
    path: '/v2/oauth2/token',
    query: { grant_type: 'client_credential', appid: options.appId, secret: options.appSecret },
    authorization: 'none',
    retries: 'read',
  }
  return async (context) => {
    const issuedAtMs = options.clock.now()
    const answer = await options.send(call, context).catch((error: unknown) => {
      throw asTokenError(error, options)
    })
    const { access_token: rawToken, expire_time: expireTime } = Object(answer.json)
    const value = typeof rawToken === 'string' ? rawToken.trim() : ''
    // Nothing else fits into a header.
    if (!/^[\x21-\x7e]+$/.test(value)) throw withoutToken(answer, options)
    const leftSeconds = readValidity(expireTime)
    const validSeconds = Math.min(Math.max(leftSeconds, MIN_VALIDITY_SECONDS), MAX_VALIDITY_SECONDS)
    return { value, issuedAtMs, expiresAtMs: issuedAtMs + validSeconds * 1000 }
  }
}

/** Whether the token call failed, for which another call may have been waiting. */
export function isOfTokenCall(error: unknown): boolean {
  return error instanceof LivehouseError && 'call' in error.details && error.details.call === TOKEN_CALL
}

/** Errcode 1000 without a token is a fault of the token service. Any other answer without one is not from it. */
function withoutToken({ json }: Answer, options: TokensOptions): LivehouseError {
  if (![1000, '1000'].includes(Object(json).errcode))
    return wrongAddress(`${TOKEN_CALL}: the answer holds no access_token`, options)
  const reason = `errcode 1000 without an access_token${Object(json).access_token ? ' that a header can carry' : ''}`
  const message = `${TOKEN_CALL}: the answer is ${reason}, a fault of the service; the next run asks again`
  return new LivehouseError('api.noToken', message, { call: TOKEN_CALL })
}

/** Reads `expire_time`: the seconds that remain (API 2.1), as a number or as text. */
function readValidity(expireTime: unknown): number {
  const isDigits = typeof expireTime === 'string' && /^\s*-?\d{1,12}\s*$/.test(expireTime)
  return typeof expireTime === 'number' || isDigits ? Number(expireTime) : DEFAULT_VALIDITY_SECONDS
}

/** "No such user": the service does not know the app id. */
const UNKNOWN_USER = 404001

/**
 * Names the cause of a failed token call. 400, 401, 403 and their codes can only mean the app id and secret, as the
 * call carries nothing else. Any other errcode (API 5.2: not shown) may mean a busy service. A status that no retry
 * changes means a wrong address; its own code keeps a 404 from passing for an answer to the call that needs the token.
 */
function asTokenError(error: unknown, options: TokensOptions): unknown {
  if (hasCode(error, 'api.refused')) {
    const advice = 'the service has a fault, or LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET are wrong: check both'
    const message = `${error.message}: ${advice}; the next run asks again`
    return new LivehouseError('api.noToken', message, error.details, { cause: error })
  }
  if (isFinalStatus(error) && error.details.isWebPage) return wrongAddress(error.message, options, error)
  const isRefusal =
    hasCode(error, 'api.unauthorized') ||
    hasCode(error, 'api.forbidden') ||
    (hasCode(error, 'api.status') && (error.details.status === 400 || error.details.code === UNKNOWN_USER))
  if (!isRefusal) return isFinalStatus(error) ? wrongAddress(error.message, options, error) : error
  const advice = 'the app id and secret are not accepted; check LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET'
  const message = `${error.message}: ${advice}`
  return new LivehouseError('api.credentialsRefused', message, { call: TOKEN_CALL }, { cause: error })
}

function wrongAddress(problem: string, { authUrl }: TokensOptions, cause?: unknown): LivehouseError {
  const message = `${problem}: no token service answers at LIVEHOUSE_AUTH_URL, which is ${authUrl}; check it`
  return new LivehouseError('api.wrongAuthUrl', message, { call: TOKEN_CALL }, { cause })
}

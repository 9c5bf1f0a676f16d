import type { AccessToken, TokenStore } from '../core/access-token.ts'
import { type Clock, orAborted } from '../core/clock.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import type { CallContext } from '../core/page.ts'
import type { Call, Send } from './send.ts'

/** Renewed when less than a quarter of its validity is left, or this, whichever is less. */
const LONGEST_EARLY_MS = 5 * 60_000

/** A token as it was given out. One that is issued again is another, also where its value is the same. */
type IssuedToken = Pick<AccessToken, 'value'>

/** Where calls get their tokens from. */
interface Tokens {
  /** A token that should be accepted; waits for the one fetch in flight where one is due. */
  readonly current: (signal: AbortSignal) => Promise<IssuedToken>
  /** The service did not accept this token. @returns whether `current` can give another one. */
  readonly reject: (token: IssuedToken) => boolean
}

export interface TokenOptions {
  /** For the bearer header of 4.3 to 4.12. */
  readonly bearer: Tokens
  /** For 4.2, which takes the app id and a fetched token as parameters; undefined without credentials. */
  readonly ticket: (Tokens & { readonly appId: string }) | undefined
}

/**
 * Gives every attempt a token. On a 401 a fetched token is given up, and the error says that the next attempt carries
 * another: that attempt is again paced and charged.
 */
export function token(next: Send, options: TokenOptions): Send {
  const { ticket } = options
  return async (call, context) => {
    const tokens = tokensOf(call, options)
    if (!tokens) return next(call, context)
    const issued = await tokens.current(context.signal)
    const authorized =
      call.authorization === 'query' && ticket
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

function tokensOf({ authorization, name }: Call, { bearer, ticket }: TokenOptions): Tokens | undefined {
  if (authorization === 'none') return undefined
  if (authorization === 'bearer') return bearer
  if (!ticket) throw noCredentials(`, but ${name} needs them`)
  return ticket
}

/** @param why goes on behind "are not set" */
export function noCredentials(why = ''): LivehouseError<'config.invalid'> {
  const problem =
    `LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET are not set${why}: set both, and LIVEHOUSE_AUTH_URL; ` +
    'for reading, LIVEHOUSE_API_TOKEN will do'
  return new LivehouseError('config.invalid', problem, { problems: [problem] })
}

/** The token that the operator configured; there is no other. */
export function fixedToken(value: string): Tokens {
  return { current: async () => ({ value }), reject: () => false }
}

/** Tokens that can be asked for. */
interface FetchedTokens extends Tokens {
  readonly appId: string
  /** Asks for a new token, whatever is there, and shares it. */
  readonly renew: (context: CallContext) => Promise<AccessToken>
}

interface FetchedTokensOptions {
  readonly appId: string
  readonly requestToken: (context: CallContext) => Promise<AccessToken>
  readonly store: TokenStore
  readonly clock: Clock
  /** Receives each token that comes to be held, also one that another process fetched: no message may show it. */
  readonly addSecret: (value: string, kind: 'passing') => void
  /** Ends a fetch in flight. Not a caller's own signal: several callers wait for one fetch. */
  readonly closed: AbortSignal
}

/** Tokens of 4.1: fetched when needed, once for all who wait, renewed before they expire. */
export function fetchedTokens(options: FetchedTokensOptions): FetchedTokens {
  const { appId, requestToken, store, clock, addSecret, closed } = options
  let held: AccessToken | undefined
  let rejected: AccessToken | undefined
  let flight: Promise<AccessToken> | undefined

  /** The service may issue the same value again while it is valid: that counts as a new token, and is tried. */
  const isRejected = ({ value, issuedAtMs }: AccessToken): boolean =>
    rejected !== undefined && value === rejected.value && issuedAtMs <= rejected.issuedAtMs
  const isUsable = (token: AccessToken | undefined): token is AccessToken => {
    if (token === undefined || isRejected(token)) return false
    const early = Math.min((token.expiresAtMs - token.issuedAtMs) / 4, LONGEST_EARLY_MS)
    return clock.now() < token.expiresAtMs - early
  }
  /** @param isNew whatever is there */
  const fetch = async (context: CallContext, isNew: boolean): Promise<AccessToken> => {
    const shared = isNew ? undefined : await store.read(context.signal)
    const make = async (kept?: AccessToken) => (!isNew && isUsable(kept) ? kept : await requestToken(context))
    held = isUsable(shared) ? shared : await store.replace(make, context.signal)
    addSecret(held.value, 'passing')
    rejected = undefined
    return held
  }
  return {
    appId,
    current: async (signal) => {
      if (isUsable(held)) return held
      flight ??= fetch({ signal: closed }, false).finally(() => (flight = undefined))
      return await orAborted(flight, signal)
    },
    renew: async (context) => await fetch({ ...context, signal: AbortSignal.any([closed, context.signal]) }, true),
    reject: (token) => {
      // A late answer to an older token says nothing about the one held now.
      if (token === held) rejected = held
      return true
    },
  }
}

import type { Clock } from '../core/clock.ts'
import type { CallContext } from '../core/page.ts'
import type { AccessToken } from './access-token.ts'
import type { TokenStore } from './token-store.ts'

/** Renewed when less than a quarter of its validity is left, or this, whichever is less. */
const LONGEST_EARLY_MS = 5 * 60_000

/** A token as it was given out. One that is issued again is another, also where its value is the same. */
export type IssuedToken = Pick<AccessToken, 'value'>

/** Where calls get their bearer token from. */
export interface Tokens {
  /** A token that should be accepted; waits for the one fetch in flight where it is due. */
  readonly current: (signal: AbortSignal) => Promise<IssuedToken>
  /** The service did not accept this token. @returns whether `current` can give another one. */
  readonly reject: (token: IssuedToken) => boolean
}

/** The token that the operator configured; there is no other. */
export function fixedToken(value: string): Tokens {
  return { current: async () => ({ value }), reject: () => false }
}

export interface FetchedTokensOptions {
  readonly requestToken: (context: CallContext) => Promise<AccessToken>
  readonly store: TokenStore
  readonly clock: Clock
  /** Ends a fetch in flight. Not a caller's own signal: several callers wait for one fetch. */
  readonly closed: AbortSignal
}

/** Tokens of 4.1: fetched when needed, once for all who wait, renewed before they expire. */
export function fetchedTokens({ requestToken, store, clock, closed }: FetchedTokensOptions): Tokens {
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

  const renew = async (): Promise<AccessToken> => {
    const shared = await store.read(closed)
    if (isUsable(shared)) return shared
    return store.exclusively(async () => {
      const renewed = await store.read(closed)
      if (isUsable(renewed)) return renewed
      const token = await requestToken({ signal: closed })
      await store.write(token, closed)
      return token
    }, closed)
  }

  return {
    current: async (signal) => {
      if (isUsable(held)) return held
      flight ??= renew()
        .then((token) => {
          held = token
          rejected = undefined
          return token
        })
        .finally(() => {
          flight = undefined
        })
      return await orAborted(flight, signal)
    },
    reject: (token) => {
      // A late answer to an older token says nothing about the one held now.
      if (token === held) rejected = held
      return true
    },
  }
}

/** Waits for `promise` no longer than `signal` allows; the work itself goes on for the others. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

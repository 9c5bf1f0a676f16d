import type { Clock } from './clock.ts'

/** A token that 4.1 issued, with what is known of its validity. */
export interface AccessToken {
  readonly value: string
  /** Instants in milliseconds since 1970. */
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** Where the one token of an application is kept for all processes that share it. */
export interface TokenStore {
  readonly read: (signal: AbortSignal) => Promise<AccessToken | undefined>
  /** Replaces the token by what `make` makes of it, one caller at a time among all that share the store. */
  readonly replace: (
    make: (kept: AccessToken | undefined) => Promise<AccessToken>,
    signal: AbortSignal,
  ) => Promise<AccessToken>
}

/** Keeps the token in this process, which is alone with it. */
export function createMemoryTokenStore(): TokenStore {
  let kept: AccessToken | undefined
  return { read: async () => kept, replace: async (make) => (kept = await make(kept)) }
}

/** One call of the service day, taken before it is made (API 4.6). */
export interface Reservation {
  /** Whose budget it is, such as `account`. */
  readonly scope: string
  readonly serviceDay: string
  /** ISO instant of the next day's first call. */
  readonly resumesAt: string
  /** The service says that the day is spent, whatever the count says. */
  readonly spendDay: () => Promise<void>
}

/**
 * Takes one call of the day for this channel, for good, before the call is made. `atMs`: what the service's own clock
 * shows, milliseconds since 1970.
 * @throws LivehouseError `api.budgetSpent` when none is left, or none may be made now.
 */
export type Reserve = (channelId: string, atMs: number, signal: AbortSignal) => Promise<Reservation>

/**
 * Changes the pace of calls that all processes share, null where none is kept. `change` gets the time by a clock that
 * they share, in milliseconds since some start, and is called again where another process was faster.
 */
export type UpdatePace = <T extends WithPace>(change: PaceChange<T>) => Promise<T>
export type WithPace = { readonly pace: unknown }
export type PaceChange<T extends WithPace> = (pace: unknown, nowMs: number) => T

/** For this process alone. */
export function createMemoryPace({ now, monotonicMs = now }: Clock): UpdatePace {
  let kept: WithPace = { pace: {} }
  return async (change) => (kept = change(kept.pace, monotonicMs()))
}

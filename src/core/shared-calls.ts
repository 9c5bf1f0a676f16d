import type { Clock } from './clock.ts'

/** A token issued by 4.1, with its period of validity. */
export interface AccessToken {
  readonly value: string
  /** Instants in milliseconds since 1970. */
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** Stores the one token of an application for all processes that share it. */
export interface TokenStore {
  readonly read: (signal: AbortSignal) => Promise<AccessToken | undefined>
  /** Replaces the token with the result of `make`. All processes that share the store do so one at a time. */
  readonly replace: (
    make: (token: AccessToken | undefined) => Promise<AccessToken>,
    signal: AbortSignal,
  ) => Promise<AccessToken>
}

/** Keeps the token in memory, for this process alone. */
export function createMemoryTokenStore(): TokenStore {
  let token: AccessToken | undefined
  return { read: async () => token, replace: async (make) => (token = await make(token)) }
}

/** One of the day's calls (API 4.6), reserved before it is made. */
export interface Reservation {
  /** Whose budget the call is charged to, such as `account`. */
  readonly scope: string
  readonly serviceDay: string
  /** When calls are allowed again on the next day, as an ISO instant. */
  readonly resumesAt: string
  /** Marks the day's budget as spent, because the service refused a call, whatever our own count says. */
  readonly spendDay: () => Promise<void>
}

/**
 * Reserves one of the day's calls for this channel before the call is made. A reservation is never returned. `atMs` is
 * the time by the service's clock, in milliseconds since 1970.
 * @throws LivehouseError `api.budgetSpent` if no call is left, or none may be made at this time.
 */
export type Reserve = (channelId: string, atMs: number, signal: AbortSignal) => Promise<Reservation>

/**
 * Updates the pace of calls that all processes share. `change` receives the stored pace, or null if there is none, and
 * the time in milliseconds by a clock that they share. It is called again if another process wrote first.
 */
export type UpdatePace = <T extends WithPace>(change: PaceChange<T>) => Promise<T>
export type WithPace = { readonly pace: unknown }
export type PaceChange<T extends WithPace> = (pace: unknown, nowMs: number) => T

/** Keeps the pace in memory, for this process alone. */
export function createMemoryPace({ now, monotonicMs = now }: Clock): UpdatePace {
  let state: WithPace = { pace: {} }
  return async (change) => (state = change(state.pace, monotonicMs()))
}

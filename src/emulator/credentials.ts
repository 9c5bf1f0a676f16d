import { randomBytes } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Switches } from './switches.ts'

/** What the emulated service knows of its one client. */
export interface ClientSettings {
  readonly appId: string
  readonly appSecret: string
  /** The bearer of the account console, which never expires. */
  readonly apiToken: string
  /** Validity of a token of 4.1. */
  readonly tokenSeconds: number
}

/** Tokens with their expiry, and the outer ids that have had a ticket (API 3.1). */
export interface Credentials {
  readonly issueToken: () => string
  /** Whether 4.1 issued it and it is still valid. */
  readonly isLiveToken: (token: string) => boolean
  /** Whether the bearer opens 4.3 to 4.12. */
  readonly isBearer: (token: string) => boolean
  /** Ends every token of 4.1 at once. */
  readonly revokeTokens: () => void
  /** The outer ids that have had a ticket. */
  readonly people: Set<string>
}

export function createCredentials(
  { apiToken, tokenSeconds }: ClientSettings,
  switches: Readonly<Switches>,
  clock: Clock,
): Credentials {
  const tokens = new Map<string, number>()
  const isLiveToken = (token: string) => (tokens.get(token) ?? 0) > clock.now()
  return {
    isLiveToken,
    isBearer: (token) =>
      (switches.bearers !== 'fetched' && token === apiToken) || (switches.bearers !== 'fixed' && isLiveToken(token)),
    issueToken: () => {
      if (switches.newTokenEndsOld) tokens.clear()
      const token = randomBytes(16).toString('hex')
      tokens.set(token, clock.now() + tokenSeconds * 1000)
      return token
    },
    revokeTokens: () => tokens.clear(),
    people: new Set(),
  }
}

import { randomBytes } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Switches } from './switches.ts'

/** What the emulated service knows of its one client. */
interface CredentialSettings {
  readonly appId: string
  readonly appSecret: string
  /** The bearer of the account console, which never expires. */
  readonly apiToken: string
  /** Validity of a token of 4.1. */
  readonly tokenSeconds: number
}

/** Tokens and tickets, with their ends (API 3.1). */
export interface Credentials {
  readonly isClient: (appId: string, secret: string) => boolean
  readonly issueToken: () => string
  /** Whether 4.1 issued it and it is still valid. */
  readonly isLiveToken: (token: string) => boolean
  /** Whether the bearer opens 4.3 to 4.12. */
  readonly isBearer: (token: string) => boolean
  /** Ends every token of 4.1 at once. */
  readonly revokeTokens: () => void
  readonly issueTicket: () => string
  /** Burns it; false when it was burned before, is older than 5 minutes or was never issued. */
  readonly redeem: (ticket: string) => boolean
  /** Remembers the outer id of a first login; true when it was new. */
  readonly isKnownPerson: (outerId: string) => boolean
  readonly rememberPerson: (outerId: string) => void
}

const TICKET_SECONDS = 300

export function createCredentials(
  settings: CredentialSettings,
  switches: Readonly<Switches>,
  clock: Clock,
): Credentials {
  const tokens = new Map<string, number>()
  const tickets = new Map<string, number>()
  const people = new Set<string>()
  const isLiveToken = (token: string) => (tokens.get(token) ?? 0) > clock.now()
  return {
    isClient: (appId, secret) => appId === settings.appId && secret === settings.appSecret,
    isLiveToken,
    isBearer: (token) =>
      (switches.bearers !== 'fetched' && token === settings.apiToken) ||
      (switches.bearers !== 'fixed' && isLiveToken(token)),
    issueToken: () => {
      if (switches.newTokenEndsOld) tokens.clear()
      const token = randomBytes(16).toString('hex')
      tokens.set(token, clock.now() + settings.tokenSeconds * 1000)
      return token
    },
    revokeTokens: () => tokens.clear(),
    issueTicket: () => {
      const ticket = randomBytes(20).toString('hex')
      tickets.set(ticket, clock.now() + TICKET_SECONDS * 1000)
      return ticket
    },
    redeem: (ticket) => {
      const endsAt = tickets.get(ticket) ?? 0
      tickets.delete(ticket)
      return endsAt > clock.now()
    },
    isKnownPerson: (outerId) => people.has(outerId),
    rememberPerson: (outerId) => void people.add(outerId),
  }
}

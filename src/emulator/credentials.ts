import { randomBytes } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Switches } from './switches.ts'

/** The only client of the emulated service. */
export interface ClientSettings {
  readonly appId: string
  readonly appSecret: string
  /** The fixed bearer token of the account console, which never expires. */
  readonly apiToken: string
  readonly tokenSeconds: number
}

/** The tokens that were issued, and the outer ids that were given a ticket (API 3.1). */
export type Credentials = ReturnType<typeof createCredentials>

export function createCredentials(
  { apiToken, tokenSeconds }: ClientSettings,
  switches: Readonly<Switches>,
  clock: Clock,
) {
  const tokens = new Map<string, number>()
  const isLiveToken = (token: string): boolean => (tokens.get(token) ?? 0) > clock.now()
  return {
    isLiveToken,
    /** Whether the endpoints 4.3 to 4.12 accept a bearer token. */
    isBearer: (token: string): boolean => (switches.bearers !== 'fetched' && token === apiToken) || isLiveToken(token),
    issueToken: (): string => {
      if (switches.newTokenEndsOld) tokens.clear()
      const token = randomBytes(16).toString('hex')
      tokens.set(token, clock.now() + tokenSeconds * 1000)
      return token
    },
    revokeTokens: (): void => tokens.clear(),
    outerIds: new Set<string>(),
  }
}

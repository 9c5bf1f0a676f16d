import { isIP } from 'node:net'
import { z } from 'zod'
import { LivehouseError } from '../core/errors.ts'
import { type Answer, type Call, invalidRequest } from './send.ts'

export const ticketScopes = ['sub_manager', 'guest', 'emcee', 'outer_visitor', 'act_assistant'] as const
export const ticketTitles = ['emcee', 'guest', 'assistant'] as const

/** API 4.2; what the type leaves open is checked before it is sent, since values come from people. */
export interface LoginTicketRequest {
  /** One of `ticketScopes`. */
  readonly scope: string
  /** The person's id on the client's platform; for `outer_visitor` at most 32 units. */
  readonly outerId: string
  /** The channel's hash id, not its number. */
  readonly hashActId: string
  readonly clientIp: string
  /** Required by the service when the outer id is authorised for the first time. */
  readonly username?: string | undefined
  readonly nickname?: string | undefined
  readonly userAvatar?: string | undefined
  /** One of `ticketTitles`; needed for `act_assistant`. */
  readonly title?: string | undefined
}

const NAME = 'GET ticket'
const MAX_OUTER_ID_UNITS = 32

/**
 * The call of 4.2 without the app id and the token, which the token layer adds.
 * @throws LivehouseError `api.invalidRequest`
 */
export function ticketCall(request: LoginTicketRequest): Call {
  check(request)
  const { username, nickname, userAvatar, title } = request
  return {
    endpoint: 'ticket',
    name: NAME,
    method: 'GET',
    host: 'auth',
    path: '/v2/oauth2/ticket',
    query: {
      scope: request.scope,
      outerid: request.outerId,
      hash_act_id: request.hashActId,
      client_ip: request.clientIp,
      ...(username === undefined ? {} : { username }),
      ...(nickname === undefined ? {} : { nickname }),
      ...(userAvatar === undefined ? {} : { user_avatar: userAvatar }),
      ...(title === undefined ? {} : { title }),
    },
    authorization: 'query',
    repeat: 'never',
  }
}

const ticketText = z.string().min(1).optional()
const ticketEnvelope = z.object({ tikect: ticketText, ticket: ticketText })

/**
 * The ticket of an answer: `tikect`, as the spec spells it, or `ticket`.
 * @throws LivehouseError `api.badShape`
 */
export function readTicket({ json }: Answer): string {
  const read = ticketEnvelope.safeParse(json)
  const ticket = read.success ? (read.data.tikect ?? read.data.ticket) : undefined
  if (ticket !== undefined) return ticket
  const reason = 'the answer holds no login ticket (tikect)'
  throw new LivehouseError('api.badShape', `${NAME}: ${reason}`, { call: NAME, reason })
}

/** A letter or digit counts 1, a Chinese character 3 (API 4.2); anything else what it takes in UTF-8. */
export function outerIdUnits(outerId: string): number {
  return Array.from(outerId, (char) => (/\p{Script=Han}/u.test(char) ? 3 : Buffer.byteLength(char))).reduce(
    (sum, units) => sum + units,
    0,
  )
}

function check({ scope, outerId, hashActId, clientIp, title }: LoginTicketRequest): void {
  const scopes: readonly string[] = ticketScopes
  const titles: readonly string[] = ticketTitles
  if (!scopes.includes(scope)) throw invalidRequest(NAME, `scope is one of ${scopes.join(', ')}`, scope)
  if (outerId === '') throw invalidRequest(NAME, 'outerid must not be empty', outerId)
  if (scope === 'outer_visitor' && outerIdUnits(outerId) > MAX_OUTER_ID_UNITS) {
    const counted = `a letter or digit counts 1, a Chinese character 3; this one has ${outerIdUnits(outerId)}`
    const rule = `outerid has at most ${MAX_OUTER_ID_UNITS} units for scope outer_visitor (${counted})`
    throw invalidRequest(NAME, rule, outerId)
  }
  if (hashActId === '') throw invalidRequest(NAME, 'hash_act_id must not be empty', hashActId)
  if (isIP(clientIp) === 0) throw invalidRequest(NAME, 'client_ip is an IP address', clientIp)
  if (scope === 'act_assistant' && title === undefined) {
    throw invalidRequest(NAME, `title is required for scope act_assistant: one of ${titles.join(', ')}`, title)
  }
  if (title !== undefined && !titles.includes(title)) {
    throw invalidRequest(NAME, `title is one of ${titles.join(', ')}`, title)
  }
}

import { z } from 'zod'
import { LivehouseError } from '../core/errors.ts'
import { type Answer, type Call, onlyGiven } from './send.ts'

export const ticketScopes = ['sub_manager', 'guest', 'emcee', 'outer_visitor', 'act_assistant'] as const
export const ticketTitles = ['emcee', 'guest', 'assistant'] as const

/** API 4.2; the service judges the values. */
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

/** The call of 4.2 without the app id and the token, which the token layer adds. */
export function ticketCall(request: LoginTicketRequest): Call {
  const { scope, outerId: outerid, hashActId: hash_act_id, clientIp: client_ip } = request
  const { username, nickname, userAvatar: user_avatar, title } = request
  return {
    endpoint: 'ticket',
    name: NAME,
    method: 'GET',
    host: 'auth',
    path: '/v2/oauth2/ticket',
    query: onlyGiven({ scope, outerid, hash_act_id, client_ip, username, nickname, user_avatar, title }),
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

import { z } from 'zod'
import type { CallContext } from '../core/page.ts'
import { badShape } from './fetch-page.ts'
import type { Send } from './send.ts'

export const ticketScopes = ['sub_manager', 'guest', 'emcee', 'outer_visitor', 'act_assistant'] as const
export const ticketTitles = ['emcee', 'guest', 'assistant'] as const

type Needed = 'scope' | 'outerid' | 'hash_act_id' | 'client_ip'
type Optional = 'username' | 'nickname' | 'user_avatar' | 'title'

/** The parameters of 4.2, named as in the spec. The service validates the values. */
export type TicketParameters = Readonly<Record<Needed, string> & Partial<Record<Optional, string | undefined>>>

const ticketText = z.string().min(1).optional()
const ticketEnvelope = z.object({ tikect: ticketText, ticket: ticketText })

/**
 * API 4.2: asks for a login ticket; the token layer adds the app id and the token.
 * @returns `tikect`, as the spec spells it, or `ticket`
 * @throws LivehouseError `api.badShape` if the answer holds no ticket, or another `api.…` code
 */
export async function requestTicket(send: Send, query: TicketParameters, context: CallContext): Promise<string> {
  const name = 'GET ticket'
  const call = { endpoint: 'ticket', name, method: 'GET', host: 'auth', path: '/v2/oauth2/ticket', query } as const
  const { json } = await send({ ...call, authorization: 'query', retries: 'never' }, context)
  const read = ticketEnvelope.safeParse(json)
  const ticket = read.success ? (read.data.tikect ?? read.data.ticket) : undefined
  if (ticket === undefined) throw badShape(name, 'without a login ticket (tikect)')
  return ticket
}

/** The payload of 4.3 and 4.4, named as in the spec. The service has defaults for omitted fields. */
export interface Menu {
  /** At most 4 Chinese characters. */
  readonly name?: string | undefined
  /** 1 chat interaction, 2 rich text, 3 video (the default), 4 topic interaction. */
  readonly type?: number | undefined
  /** Effective when the type is 2. */
  readonly rich_text?: string | undefined
  /** Video ids of the current user; effective when the type is 3. */
  readonly videos?: readonly { readonly vid: number }[] | undefined
}

const digits = z.string().regex(/^\d{1,15}$/)
const menuEnvelope = z.object({
  menu_id: z.union([z.int(), z.bigint(), digits.transform(Number)]),
  result: z.string(),
})

/**
 * Creates a menu (API 4.3) or updates a given one (API 4.4). Only updates are idempotent. Ids beyond 2^53 stay exact.
 * @throws LivehouseError `api.badShape` if the answer does not name the saved menu, or another `api.…` code
 */
export async function saveMenu(
  send: Send,
  { channelId, menuId }: { readonly channelId: string; readonly menuId: number | undefined },
  menu: Menu,
  context: CallContext,
) {
  const isNew = menuId === undefined
  const name = isNew ? `POST saveMenu channel ${channelId}` : `PUT saveMenu channel ${channelId} menu ${menuId}`
  const call = {
    endpoint: isNew ? 'createMenu' : 'updateMenu',
    name,
    method: isNew ? 'POST' : 'PUT',
    host: 'base',
    path: `/v1/activities/${encodeURIComponent(channelId)}/saveMenu${isNew ? '' : `/${menuId}`}`,
    body: { ...menu },
    channelId,
    authorization: 'bearer',
    retries: isNew ? 'never' : 'idempotent',
  } as const
  const read = menuEnvelope.safeParse((await send(call, context)).json)
  if (!read.success) throw badShape(name, 'without the saved menu (menu_id, result)')
  return { menuId: read.data.menu_id, result: read.data.result }
}

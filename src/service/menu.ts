import stringWidth from 'string-width'
import { z } from 'zod'
import { LivehouseError } from '../core/errors.ts'
import { channelIn } from './list-call.ts'
import { type Answer, type Call, invalidRequest } from './send.ts'

/** API 4.3 and 4.4. What is left out takes the service's default. */
export interface MenuRequest {
  /** At most 4 Chinese or 8 narrow characters. */
  readonly name?: string | undefined
  /** 1 chat interaction, 2 rich text, 3 video (the default), 4 topic interaction. */
  readonly type?: number | undefined
  /** Effective when the type is 2. */
  readonly richText?: string | undefined
  /** Video ids of the current user; effective when the type is 3. */
  readonly vids?: readonly number[] | undefined
}

/** The service's answer to 4.3 and 4.4; ids beyond 2^53 stay exact. */
export interface SavedMenu {
  readonly menuId: number | bigint
  readonly result: string
}

/** 4 Chinese characters are as wide as 8 narrow ones. */
const MAX_NAME_WIDTH = 8

/**
 * The call of 4.3, or of 4.4 where a menu id is given. Adding is not idempotent, changing is.
 * @throws LivehouseError `api.invalidRequest`
 */
export function menuCall(channelId: string, menuId: number | undefined, menu: MenuRequest): Call {
  const isNew = menuId === undefined
  const name = isNew ? `POST saveMenu channel ${channelId}` : `PUT saveMenu channel ${channelId} menu ${menuId}`
  check(name, menuId, menu)
  return {
    endpoint: isNew ? 'createMenu' : 'updateMenu',
    name,
    method: isNew ? 'POST' : 'PUT',
    host: 'base',
    path: `/v1/activities/${channelIn(channelId, name)}/saveMenu${isNew ? '' : `/${menuId}`}`,
    body: {
      ...(menu.name === undefined ? {} : { name: menu.name }),
      ...(menu.type === undefined ? {} : { type: menu.type }),
      ...(menu.richText === undefined ? {} : { rich_text: menu.richText }),
      ...(menu.vids === undefined ? {} : { videos: menu.vids.map((vid) => ({ vid })) }),
    },
    channelId,
    authorization: 'bearer',
    repeat: isNew ? 'never' : 'idempotent',
  }
}

const menuEnvelope = z.object({
  menu_id: z.union([
    z.int(),
    z.bigint(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ]),
  result: z.string(),
})

/** @throws LivehouseError `api.badShape` when the answer does not say which menu was saved. */
export function readMenu({ name }: Call, { json }: Answer): SavedMenu {
  const read = menuEnvelope.safeParse(json)
  if (read.success) return { menuId: read.data.menu_id, result: read.data.result }
  const reason = 'the answer does not say which menu was saved (menu_id, result)'
  throw new LivehouseError('api.badShape', `${name}: ${reason}`, { call: name, reason })
}

function check(call: string, menuId: number | undefined, { name, type, vids }: MenuRequest): void {
  if (menuId !== undefined && !isId(menuId)) throw invalidRequest(call, 'the menu id is an integer from 1', menuId)
  if (name?.trim() === '') throw invalidRequest(call, 'name must not be empty; leave it out for the default', name)
  if (name !== undefined && stringWidth(name) > MAX_NAME_WIDTH) {
    throw invalidRequest(call, 'name has at most 4 Chinese or 8 narrow characters', name)
  }
  if (type !== undefined && ![1, 2, 3, 4].includes(type)) {
    throw invalidRequest(call, 'type is 1 (chat), 2 (rich text), 3 (video) or 4 (topic)', type)
  }
  const bad = vids?.find((vid) => !isId(vid))
  if (bad !== undefined) throw invalidRequest(call, 'each vid is the integer id of a video', bad)
}

function isId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0
}

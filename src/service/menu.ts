import { z } from 'zod'
import { LivehouseError } from '../core/errors.ts'
import { channelIn } from './fetch-page.ts'
import { type Answer, type Call, onlyGiven } from './send.ts'

/** API 4.3 and 4.4. What is left out takes the service's default; the service judges the rest. */
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

/**
 * The call of 4.3, or of 4.4 where a menu id is given. Adding is not idempotent, changing is.
 * @throws LivehouseError `api.invalidRequest` for a channel id that could not stand in a path
 */
export function menuCall(channelId: string, menuId: number | undefined, menu: MenuRequest): Call {
  const isNew = menuId === undefined
  const name = isNew ? `POST saveMenu channel ${channelId}` : `PUT saveMenu channel ${channelId} menu ${menuId}`
  const { name: title, type, richText, vids } = menu
  return {
    endpoint: isNew ? 'createMenu' : 'updateMenu',
    name,
    method: isNew ? 'POST' : 'PUT',
    host: 'base',
    path: `/v1/activities/${channelIn(channelId, name)}/saveMenu${isNew ? '' : `/${menuId}`}`,
    body: onlyGiven<unknown>({ name: title, type, rich_text: richText, videos: vids?.map((vid) => ({ vid })) }),
    channelId,
    authorization: 'bearer',
    repeat: isNew ? 'never' : 'idempotent',
  }
}

const digits = z.string().regex(/^\d{1,15}$/)
const menuEnvelope = z.object({
  menu_id: z.union([z.int(), z.bigint(), digits.transform(Number)]),
  result: z.string(),
})

/** @throws LivehouseError `api.badShape` when the answer does not say which menu was saved. */
export function readMenu({ name }: Call, { json }: Answer): SavedMenu {
  const read = menuEnvelope.safeParse(json)
  if (read.success) return { menuId: read.data.menu_id, result: read.data.result }
  const reason = 'the answer does not say which menu was saved (menu_id, result)'
  throw new LivehouseError('api.badShape', `${name}: ${reason}`, { call: name, reason })
}

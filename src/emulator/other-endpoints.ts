import { randomBytes } from 'node:crypto'
import { type Answer, jsonAnswer, refusals, refuse } from './answer.ts'
import type { Call, Service } from './endpoint.ts'
import { createParamReader, type ParamReader } from './params.ts'
import type { Menu, World } from './world/world.ts'

const SCOPES = ['sub_manager', 'guest', 'emcee', 'outer_visitor', 'act_assistant']
const TITLES = ['emcee', 'guest', 'assistant']
const MAX_OUTER_ID_UNITS = 32

/** API 4.1. */
export function answerToken({ params }: Call, service: Service): Answer {
  const { appId, appSecret, tokenSeconds, credentials, switches } = service
  const reader = createParamReader(params)
  const [grantType, client, secret] = ['grant_type', 'appid', 'secret'].map((name) => reader.requiredText(name))
  if (grantType !== 'client_credential') reader.refuse(refusals.invalid('grant_type'))
  if (client !== appId || secret !== appSecret)
    reader.refuse({ code: 401001, message: 'Unauthorized user: appid or secret is wrong' })
  if (reader.refusal) return refuse('errcode', reader.refusal, switches.errcodeStatus)
  return jsonAnswer({ errcode: 1000, msg: 'OK', access_token: credentials.issueToken(), expire_time: tokenSeconds })
}

/** API 4.2. */
export function answerTicket({ params }: Call, { appId, credentials, world, switches }: Service): Answer {
  const reader = createParamReader(params)
  const { requiredText, text, choice, refuse: refuseParam } = reader
  const client = requiredText('appid')
  const token = requiredText('token')
  requiredText('scope')
  const scope = choice('scope', SCOPES)
  const outerId = requiredText('outerid')
  const hashId = requiredText('hash_act_id')
  requiredText('client_ip')
  if (client !== appId) refuseParam(refusals.invalid('appid'))
  if (!credentials.isLiveToken(token)) refuseParam(refusals.unauthorized)
  if (scope === 'outer_visitor' && widthOf(outerId, /\p{Script=Han}/u, 3) > MAX_OUTER_ID_UNITS)
    refuseParam(refusals.invalid('outerid'))
  if (scope === 'act_assistant') requiredText('title')
  if (text('title') !== '') choice('title', TITLES)
  if (![...world.channels.values()].some((channel) => channel.hashId === hashId)) refuseParam(refusals.noActivity)
  if (!credentials.outerIds.has(outerId)) requiredText('username')
  if (reader.refusal) return refuse('errcode', reader.refusal, switches.errcodeStatus)
  credentials.outerIds.add(outerId)
  return jsonAnswer({ errcode: 1000, msg: 'OK', tikect: randomBytes(20).toString('hex') })
}

const MAX_NAME_UNITS = 8
const CHAT = 1
const VIDEO = 3

/** API 4.3: adds a menu. */
export function answerCreateMenu(call: Call, { world }: Service): Answer {
  const ids = [...world.channels.values()].flatMap((channel) => [...channel.menus.keys()])
  const blank: Menu = { menuId: Math.max(0, ...ids) + 1, name: '菜单名称', type: VIDEO, richText: '', videoIds: [] }
  return saveMenu(call, blank, world)
}

/** API 4.4: changes what is given and leaves the rest. */
export function answerChangeMenu(call: Call, { world }: Service): Answer {
  return saveMenu(call, call.channel?.menus.get(Number(call.menuId)), world)
}

function saveMenu({ params, channel }: Call, before: Menu | undefined, { videoIds }: World): Answer {
  if (channel === undefined || before === undefined) return refuse('errors', refusals.notFound('menu'), 'matching')
  const reader = createParamReader(params)
  const { menuId } = before
  const name = reader.text('name') ?? before.name
  const type = reader.count('type') ?? before.type
  const menu: Menu = {
    menuId,
    name,
    type,
    richText: reader.text('rich_text') ?? before.richText,
    videoIds: params['videos'] === undefined ? before.videoIds : readVideos(reader, params['videos'], videoIds),
  }
  // At most 4 Chinese or 8 Latin characters.
  if (widthOf(name, /[\u0100-\u{10ffff}]/u, 2) > MAX_NAME_UNITS) reader.refuse(refusals.invalid('name'))
  if (type > 4) reader.refuse(refusals.invalid('type'))
  const hasOtherChat = [...channel.menus.values()].some((other) => other.type === CHAT && other.menuId !== menuId)
  if (type === CHAT && hasOtherChat) reader.refuse(refusals.invalid('type: the chat menu exists'))
  if (reader.refusal) return refuse('errors', reader.refusal, 'matching')
  channel.menus.set(menuId, menu)
  return jsonAnswer({ menu_id: menuId, result: 'success' })
}

function readVideos(reader: ParamReader, videos: unknown, knownIds: ReadonlySet<number>): number[] {
  if (!Array.isArray(videos)) reader.refuse(refusals.invalid('videos'))
  const items: readonly unknown[] = Array.isArray(videos) ? videos : []
  return items.flatMap((video) => {
    const vid: unknown = Reflect.get(Object(video), 'vid')
    if (typeof vid === 'number' && knownIds.has(vid)) return [vid]
    reader.refuse(vid === undefined ? refusals.missing('vid') : refusals.noVideo)
    return []
  })
}

/** The width of a text: a character that matches `wide` counts as `units`, any other as one. */
function widthOf(text: string, wide: RegExp, units: number): number {
  return Array.from(text).reduce((width, character) => width + (wide.test(character) ? units : 1), 0)
}

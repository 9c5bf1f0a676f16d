import { type Answer, jsonAnswer, refusals, refuse } from './answer.ts'
import { createParamReader, type ParamReader, type Params } from './params.ts'
import type { Service } from './service.ts'
import type { Channel, Menu, World } from './world/world.ts'

const SCOPES = new Set(['sub_manager', 'guest', 'emcee', 'outer_visitor', 'act_assistant'])
const TITLES = new Set(['emcee', 'guest', 'assistant'])
const MAX_OUTER_ID_UNITS = 32

/** API 4.1. */
export function answerToken(params: Params, service: Service): Answer {
  const reader = createParamReader(params)
  const grantType = reader.requiredText('grant_type')
  const appId = reader.requiredText('appid')
  const secret = reader.requiredText('secret')
  if (grantType !== 'client_credential') reader.refuse(refusals.invalid('grant_type'))
  if (!service.credentials.isClient(appId, secret)) {
    reader.refuse({ code: 401001, message: 'Unauthorized user: appid or secret is wrong' })
  }
  if (reader.refusal) return refuse('errcode', reader.refusal, service.switches.errcodeStatus)
  return jsonAnswer({
    errcode: 1000,
    msg: 'OK',
    access_token: service.credentials.issueToken(),
    expire_time: service.tokenSeconds,
  })
}

/** API 4.2. */
export function answerTicket(params: Params, service: Service): Answer {
  const reader = createParamReader(params)
  const outerId = readTicketRequest(reader, service)
  if (reader.refusal) return refuse('errcode', reader.refusal, service.switches.errcodeStatus)
  service.credentials.rememberPerson(outerId)
  return jsonAnswer({ errcode: 1000, msg: 'OK', tikect: service.credentials.issueTicket() })
}

function readTicketRequest(reader: ParamReader, { appId, credentials, world }: Service): string {
  const client = reader.requiredText('appid')
  const token = reader.requiredText('token')
  const scope = reader.requiredText('scope')
  const outerId = reader.requiredText('outerid')
  const hashId = reader.requiredText('hash_act_id')
  reader.requiredText('client_ip')
  const title = reader.text('title')
  if (client !== appId) reader.refuse(refusals.invalid('appid'))
  if (!credentials.isLiveToken(token)) reader.refuse(refusals.unauthorized)
  if (!SCOPES.has(scope)) reader.refuse(refusals.invalid('scope'))
  if (scope === 'outer_visitor' && outerIdUnits(outerId) > MAX_OUTER_ID_UNITS)
    reader.refuse(refusals.invalid('outerid'))
  if (scope === 'act_assistant' && !title) reader.refuse(refusals.missing('title'))
  if (title && !TITLES.has(title)) reader.refuse(refusals.invalid('title'))
  if (![...world.channels.values()].some((channel) => channel.hashId === hashId)) reader.refuse(refusals.noActivity)
  if (!reader.text('username') && !credentials.isKnownPerson(outerId)) reader.refuse(refusals.missing('username'))
  return outerId
}

/** Letters and digits count 1, Chinese characters 3. */
function outerIdUnits(outerId: string): number {
  return Array.from(outerId).reduce((units, character) => units + (/\p{Script=Han}/u.test(character) ? 3 : 1), 0)
}

/** The page that a ticket opens: a redirect with a cookie, or a refusal as JSON with 200. */
export function answerAuthorize(params: Params, service: Service): Answer {
  const reader = createParamReader(params)
  const ticket = reader.requiredText('ticket')
  const target = reader.text('redirect_uri') ?? '/'
  if (!reader.refusal && !service.credentials.redeem(ticket)) reader.refuse(refusals.invalid('ticket'))
  if (reader.refusal) return refuse('errcode', reader.refusal, service.switches.errcodeStatus)
  return {
    kind: 'answer',
    status: 302,
    headers: { location: target, 'set-cookie': `session=${ticket.slice(0, 16)}; Path=/; HttpOnly` },
    body: { kind: 'text', contentType: 'text/plain', text: '' },
    delivery: { kind: 'whole' },
  }
}

const MAX_NAME_UNITS = 8
const CHAT = 1
const VIDEO = 3

/** API 4.3: adds a menu. */
export function answerCreateMenu(params: Params, channel: Channel, world: World): Answer {
  const menuId = Math.max(0, ...allMenuIds(world)) + 1
  const blank: Menu = { menuId, name: '菜单名称', type: VIDEO, richText: '', videoIds: [] }
  return save(params, blank, channel, world)
}

/** API 4.4: changes what is given and leaves the rest. */
export function answerChangeMenu(params: Params, menuId: string, channel: Channel, world: World): Answer {
  const menu = channel.menus.get(Number(menuId))
  if (!menu) return refuse('errors', refusals.notFound('menu'), 'matching')
  return save(params, menu, channel, world)
}

function save(params: Params, before: Menu, channel: Channel, world: World): Answer {
  const reader = createParamReader(params)
  const menu = readMenu(reader, params, before, world)
  const hasOtherChat = [...channel.menus.values()].some(({ menuId, type }) => type === CHAT && menuId !== menu.menuId)
  if (menu.type === CHAT && hasOtherChat) reader.refuse(refusals.invalid('type: the chat menu exists'))
  if (reader.refusal) return refuse('errors', reader.refusal, 'matching')
  channel.menus.set(menu.menuId, menu)
  return jsonAnswer({ menu_id: menu.menuId, result: 'success' })
}

function readMenu(reader: ParamReader, params: Params, before: Menu, world: World): Menu {
  const name = reader.text('name') ?? before.name
  if (nameUnits(name) > MAX_NAME_UNITS) reader.refuse(refusals.invalid('name'))
  const type = reader.count('type') ?? before.type
  if (type > 4) reader.refuse(refusals.invalid('type'))
  const videoIds = params['videos'] === undefined ? before.videoIds : readVideos(reader, params['videos'], world)
  return { menuId: before.menuId, name, type, richText: reader.text('rich_text') ?? before.richText, videoIds }
}

function readVideos(reader: ParamReader, videos: unknown, world: World): number[] {
  if (!Array.isArray(videos)) {
    reader.refuse(refusals.invalid('videos'))
    return []
  }
  const given: readonly unknown[] = videos
  return given.flatMap((video) => {
    const vid = typeof video === 'object' && video !== null && 'vid' in video ? video.vid : undefined
    if (vid === undefined) reader.refuse(refusals.missing('vid'))
    else if (typeof vid !== 'number' || !Number.isInteger(vid)) reader.refuse(refusals.invalid('vid'))
    else if (!world.videoIds.has(vid)) reader.refuse(refusals.noVideo)
    else return [vid]
    return []
  })
}

/** At most 4 Chinese or 8 narrow characters. */
function nameUnits(name: string): number {
  return Array.from(name).reduce((units, character) => units + ((character.codePointAt(0) ?? 0) > 0xff ? 2 : 1), 0)
}

function allMenuIds(world: World): number[] {
  return [...world.channels.values()].flatMap((channel) => [...channel.menus.keys()])
}

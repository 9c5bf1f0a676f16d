import { type Answer, jsonAnswer, refusals, refuse } from './answer.ts'
import { createParamReader, type ParamReader, type Params } from './params.ts'
import type { Channel, Menu, World } from './world/world.ts'

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

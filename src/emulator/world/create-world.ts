import assert from 'node:assert/strict'
import { DAY, parseWallTime, type WallTime } from '../../core/wall-clock.ts'
import { createAudience } from './audience.ts'
import { createGifts } from './gifts.ts'
import { createManagers } from './managers.ts'
import { chooseChannelName } from './names.ts'
import { createQuestionnaires } from './questionnaires.ts'
import { createRandom } from './random.ts'
import { createRowList } from './row-list.ts'
import { chooseSessions } from './sessions.ts'
import type { Channel, Menu, World } from './world.ts'

export interface WorldOptions {
  readonly seed: number
  readonly channels: number
  /** Per channel. */
  readonly viewers: number
  /** How far the history goes back. */
  readonly days: number
  /** Where the history ends, on the service's wall clock. */
  readonly endsAt: WallTime
  readonly timeZone: string
}

const MAIN_ACCOUNT_ID = '1013377'
const MANAGERS = 25
const FIRST_CHANNEL_ID = 10_001_589
const OLD_VIEWERS = 12
/** Version 1 of the watch records is what holds the time before this. */
const VERSION_2_BEGINS = parseWallTime('2018-12-01')

/** The same options give the same world. */
export function createWorld(options: WorldOptions): World {
  const { seed, endsAt, timeZone } = options
  const channels = Array.from({ length: options.channels }, (_, index) => createChannel(options, index))
  return {
    timeZone,
    endsAt,
    channels: new Map(channels.map((channel) => [channel.id, channel])),
    managers: createRowList(
      createManagers(createRandom(seed, 'managers'), MANAGERS, MAIN_ACCOUNT_ID, options.channels, endsAt),
    ),
    videoIds: new Set([522_323, 522_324, 530_001]),
  }
}

function createChannel({ seed, viewers, days, endsAt }: WorldOptions, index: number): Channel {
  const random = createRandom(seed, 'channel', index)
  const from = endsAt - days * DAY
  const sessions = chooseSessions(random, from, endsAt, index % 3 === 0)
  const { visitors, records } = createAudience({ seed, channelIndex: index, viewers, sessions, from, to: endsAt })
  return {
    id: String(FIRST_CHANNEL_ID + index * 37),
    hashId: random.hash(8),
    name: chooseChannelName(random, index),
    adminId: MAIN_ACCOUNT_ID,
    visitors: createRowList(visitors),
    records: createRowList(records),
    oldRecords: createRowList(index < 2 ? createOldRecords(seed, index) : []),
    gifts: createRowList(createGifts(random, visitors, sessions)),
    questionnaires: createRowList(createQuestionnaires(random, index, visitors, from, endsAt)),
    menus: new Map([[240_415 + index, createChatMenu(240_415 + index)]]),
  }
}

/** A few dozen visits of the autumn of 2018. */
function createOldRecords(seed: number, index: number) {
  assert(VERSION_2_BEGINS !== undefined)
  const random = createRandom(seed, 'old', index)
  const from = VERSION_2_BEGINS - 60 * DAY
  const to = VERSION_2_BEGINS - 1
  const sessions = chooseSessions(random, from, to, false)
  const options = { seed: seed + 1, channelIndex: index, viewers: OLD_VIEWERS, sessions, from, to }
  return createAudience(options).records.map((record, place) => ({
    ...record,
    recordId: String(1000 + index * 1_000_000 + place),
  }))
}

/** Every new channel has one (API 4.3: it is why a second chat menu is refused). */
function createChatMenu(menuId: number): Menu {
  return { menuId, name: '聊天互动', type: 1, richText: '', videoIds: [] }
}

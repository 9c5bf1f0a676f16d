import { DAY, formatWallDate, type WallTime } from '../../core/wall-clock.ts'
import { chooseSessions, createAudience, type Session } from './audience.ts'
import { CHANNEL_TOPICS, choosePhone } from './names.ts'
import { createQuestionnaires } from './questionnaires.ts'
import { createRandom, type Random } from './random.ts'
import { createRowList } from './row-list.ts'
import type { Channel, Gift, Manager, Visitor, World } from './world.ts'

export interface WorldOptions {
  readonly seed: number
  readonly channels: number
  /** Per channel. */
  readonly viewers: number
  /** The length of the history. */
  readonly days: number
  /** Where the history ends, on the service's wall clock. */
  readonly endsAt: WallTime
  readonly timeZone: string
}

const MAIN_ACCOUNT_ID = '1013377'
const MANAGERS = 25
const FIRST_CHANNEL_ID = 10_001_589
const OLD_VIEWERS = 12
/** 2018-12-01. Only version 1 of the watch records delivers earlier visits. */
const VERSION_2_BEGINS = 17_866 * DAY

/** Creates a world; the same options give the same one. */
export function createWorld(options: WorldOptions): World {
  const { seed, endsAt, timeZone } = options
  const channels = Array.from({ length: options.channels }, (_, index) => createChannel(options, index))
  const random = createRandom(seed, 'managers')
  const managers = Array.from({ length: MANAGERS }, (_, index) =>
    createManager(random, index, options.channels, endsAt),
  )
  return {
    timeZone,
    endsAt,
    channels: new Map(channels.map((channel) => [channel.id, channel])),
    managers: createRowList(managers),
    videoIds: new Set([522_323, 522_324, 530_001]),
  }
}

function createChannel({ seed, viewers, days, endsAt }: WorldOptions, index: number): Channel {
  const random = createRandom(seed, 'channel', index)
  const from = endsAt - days * DAY
  const sessions = chooseSessions(random, from, endsAt, index % 3 === 0)
  const { visitors, records } = createAudience({ seed, channelIndex: index, viewers, sessions, from, to: endsAt })
  // Every new channel has a chat menu, which is why API 4.3 refuses a second one.
  const menuId = 240_415 + index
  return {
    id: String(FIRST_CHANNEL_ID + index * 37),
    hashId: random.hash(8),
    name: `${random.pick(CHANNEL_TOPICS)}${index + 1}${index % 4 === 3 ? '🎬' : ''}`,
    adminId: MAIN_ACCOUNT_ID,
    visitors: createRowList(visitors),
    records: createRowList(records),
    oldRecords: createRowList(index < 2 ? createOldRecords(seed, index) : []),
    gifts: createRowList(createGifts(random, visitors, sessions)),
    questionnaires: createRowList(createQuestionnaires(random, index, visitors, from, endsAt)),
    menus: new Map([[menuId, { menuId, name: '聊天互动', type: 1, richText: '', videoIds: [] }]]),
  }
}

/** A few dozen visits in the autumn of 2018. */
function createOldRecords(seed: number, index: number) {
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

/** The gift id of a cash reward; props are numbered from 101. */
const CASH_GIFT_ID = 27

const PROP_PRICES = ['0.00', '0.10', '1.00', '5.20', '6.66', '66.00', '520.00'] as const

/** Gifts given while a channel was live, some of them equal and in the same second. */
function createGifts(random: Random, visitors: readonly Visitor[], sessions: readonly [Session, ...Session[]]): Gift[] {
  const gifts: Gift[] = []
  for (const visitor of visitors) {
    if (!random.chance(0.15)) continue
    const session = random.pick(sessions)
    const gift = createGift(random, visitor, random.between(session.startsAt, session.endsAt - 1))
    gifts.push(gift)
    if (random.chance(0.04)) gifts.push({ ...gift })
    const neighbour = visitors[random.between(0, visitors.length - 1)]
    if (neighbour && random.chance(0.03)) gifts.push({ ...gift, ...giverOf(random, neighbour) })
  }
  return gifts.sort((a, b) => a.givenAt - b.givenAt)
}

function createGift(random: Random, visitor: Visitor, givenAt: WallTime): Gift {
  const giver = giverOf(random, visitor)
  if (random.chance(0.35)) {
    const cents = random.between(1, 20_000)
    return { type: 'cash', giftId: CASH_GIFT_ID, money: (cents / 100).toFixed(2), givenAt, ...giver }
  }
  const prop = random.between(0, PROP_PRICES.length - 1)
  return { type: 'prop', giftId: 101 + prop, money: PROP_PRICES[prop] ?? '0.00', givenAt, ...giver }
}

function giverOf(random: Random, visitor: Visitor): Pick<Gift, 'visitorId' | 'visitorName' | 'phone' | 'showsVisitor'> {
  const phone = visitor.phone === '' && random.chance(0.1) ? choosePhone(random) : visitor.phone
  return { visitorId: visitor.userId, visitorName: visitor.nick, phone, showsVisitor: random.chance(0.4) }
}

const USERNAMES = ['009', 'admin', '0x1F', '华东分部', 'live_ops', '1e3', '运营-小王'] as const

/** A sub-account as odd as real ones: empty times, digits as names, limits that contradict their kind. */
function createManager(random: Random, index: number, channels: number, to: WallTime): Manager {
  const limitType = random.chance(0.7) ? 1 : 2
  const isNew = index === 0 || random.chance(0.3)
  const lastLoginAt = isNew ? null : to - random.between(60, 90 * DAY)
  const live = isNew ? 0 : random.between(0, 500_000)
  const vod = isNew ? 0 : random.between(0, 90_000)
  return {
    id: String(41_382 + index * 13),
    username: USERNAMES[index] ?? `user${String(index).padStart(3, '0')}`,
    belongTo: MAIN_ACCOUNT_ID,
    limitType,
    trafficLimit: random.chance(0.3) ? 1243 : 0,
    timeLimit: random.chance(0.3) ? 60 : 0,
    payType: random.between(1, 2),
    createdOn: formatWallDate(to - random.between(100, 1500) * DAY),
    channelCount: index === 1 ? channels : 0,
    lastLoginAt,
    lastPushAt: lastLoginAt === null || random.chance(0.4) ? null : lastLoginAt - random.between(0, 20 * DAY),
    notifiesCostLimit: random.chance(0.3),
    outerId: random.chance(0.2) ? `guest-${random.hash(6)}` : random.chance(0.5) ? null : '',
    hasRedpack: random.chance(0.5),
    hasLiveNotify: random.chance(0.5),
    costType: limitType === 1 ? random.pick(['时长(分钟)', '时长（分钟）']) : '流量(GB)',
    costLimit: random.chance(0.6) ? 0 : 100_000,
    costTotalWatch: live + vod,
    costVodWatch: vod,
    costLiveWatch: live,
    costTransfer: limitType === 2 && !isNew ? random.between(1, 90_000) / 100 : 0,
  }
}

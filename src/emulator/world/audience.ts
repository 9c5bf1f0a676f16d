import type { WallTime } from '../../core/wall-clock.ts'
import { chooseEquipment, chooseIp, chooseNick, choosePhone, choosePlace } from './names.ts'
import { createRandom, type Random } from './random.ts'
import { chooseLongStay, chooseStay, type Session, type Stay } from './sessions.ts'
import type { Visitor, WatchRecord } from './world.ts'

export interface Audience {
  readonly visitors: Visitor[]
  readonly records: WatchRecord[]
}

interface AudienceOptions {
  readonly seed: number
  readonly channelIndex: number
  readonly viewers: number
  readonly sessions: readonly [Session, ...Session[]]
  readonly from: WallTime
  readonly to: WallTime
}

type Person = Pick<Visitor, 'userId' | 'assignId' | 'outerId' | 'nick' | 'addr' | 'phone'>
type Visit = Omit<WatchRecord, 'recordId'>

const FIRST_RECORD_ID = 100_000_000
const RECORD_IDS_PER_CHANNEL = 50_000_000
/** 2^53 + 1: no double holds it. */
const RECORD_ID_BEYOND_DOUBLES = '9007199254740993'

/** The viewers of one channel with their visits; each visitor's figures are the sums of the visits. */
export function createAudience(options: AudienceOptions): Audience {
  const random = createRandom(options.seed, 'audience', options.channelIndex)
  const visitors: Visitor[] = []
  const visits: Visit[] = []
  for (let index = 0; index < options.viewers; index += 1) {
    const own = createVisits(random, options, choosePerson(random, options, index), index)
    visitors.push(sumUp(random, own))
    for (const visit of own) visits.push(visit)
  }
  visits.sort((a, b) => a.enteredAt - b.enteredAt)
  const firstId = FIRST_RECORD_ID + options.channelIndex * RECORD_IDS_PER_CHANNEL
  const records = visits.map((visit, index) => ({ recordId: String(firstId + index), ...visit }))
  const newest = records.at(-1)
  if (options.channelIndex === 0 && newest)
    records[records.length - 1] = { ...newest, recordId: RECORD_ID_BEYOND_DOUBLES }
  return { visitors, records }
}

/** A tenth of the viewers are the same people in every channel. */
function choosePerson(random: Random, { seed, viewers, channelIndex }: AudienceOptions, index: number): Person {
  return index < viewers / 10
    ? createPerson(createRandom(seed, 'regular', index), 1, index)
    : createPerson(random, channelIndex + 2, index)
}

function createPerson(random: Random, group: number, index: number): Person {
  const place = choosePlace(random)
  const isKnown = random.chance(0.3)
  return {
    userId: createUserId(random, group, index),
    assignId: isKnown ? `emp-${String(random.between(1, 99_999)).padStart(6, '0')}` : '',
    outerId: isKnown && random.chance(0.5) ? `crm_${random.hash(10)}` : null,
    nick: chooseNick(random, place),
    addr: place.addr,
    phone: random.chance(0.3) ? choosePhone(random) : random.chance(0.1) ? null : '',
  }
}

/** Opaque text of three shapes, unique within a channel through the viewer's number in the group. */
function createUserId(random: Random, group: number, index: number): string {
  const shape = random.next()
  if (shape < 0.4) return String(group * 10_000_000 + index * 7 + random.between(0, 6))
  if (shape < 0.7) return `${random.between(0x1000_0000, 0xffff_ffff).toString(16)}${(index + 0x100_0000).toString(16)}`
  return `${random.hash(3)}${index.toString(36).padStart(5, 'z')}`
}

function createVisits(random: Random, options: AudienceOptions, person: Person, index: number): [Visit, ...Visit[]] {
  const { sessions, from, to } = options
  const { userId, assignId, outerId, nick, addr, phone } = person
  const usual = chooseEquipment(random)
  const toVisit = (stay: Stay): Visit => {
    const { device, browser, origin } = random.chance(0.15) ? chooseEquipment(random) : usual
    const { enteredAt, leftAt, liveSeconds, vodSeconds } = stay
    const seconds = {
      onlineSeconds: leftAt - enteredAt,
      watchSeconds: liveSeconds + vodSeconds,
      liveSeconds,
      vodSeconds,
    }
    return { userId, assignId, outerId, nick, addr, phone, device, browser, origin, ...seconds, enteredAt, leftAt }
  }
  const visits: [Visit, ...Visit[]] = [toVisit(chooseStay(random, random.pick(sessions), to))]
  const more = index % 97 === 5 ? random.between(8, 20) : Math.min(8, Math.floor(random.exponential(1.2)))
  for (let visit = 0; visit < more; visit += 1) visits.push(toVisit(chooseStay(random, random.pick(sessions), to)))
  const longStay = index % 400 === 7 ? chooseLongStay(random, from, to) : undefined
  if (longStay) visits.push(toVisit(longStay))
  return visits
}

function sumUp(random: Random, visits: readonly [Visit, ...Visit[]]): Visitor {
  const sum = (field: 'watchSeconds' | 'liveSeconds' | 'vodSeconds' | 'onlineSeconds') =>
    visits.reduce((total, visit) => total + visit[field], 0)
  const latest = visits.reduce((a, b) => (b.leftAt >= a.leftAt ? b : a))
  const { userId, assignId, outerId, nick, addr, phone, device, browser, origin } = latest
  return {
    userId,
    assignId,
    outerId,
    nick,
    addr,
    phone,
    refer: origin === '直接访问' ? '' : origin,
    device,
    browser,
    lastIp: chooseIp(random),
    wxOpenid: browser === '微信' ? `o${random.hash(27)}` : '',
    visitTimes: visits.length,
    shareTimes: random.chance(0.1) ? random.between(1, 9) : 0,
    commentCount: random.chance(0.25) ? random.between(1, 40) : 0,
    watchSeconds: sum('watchSeconds'),
    liveSeconds: sum('liveSeconds'),
    vodSeconds: sum('vodSeconds'),
    onlineSeconds: sum('onlineSeconds'),
    firstLoginAt: visits.reduce((earliest, visit) => Math.min(earliest, visit.enteredAt), latest.enteredAt),
    lastOnlineAt: latest.leftAt,
  }
}

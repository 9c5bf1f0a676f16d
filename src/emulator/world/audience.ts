import { DAY, type WallTime } from '../../core/wall-clock.ts'
import { chooseEquipment, chooseIp, chooseNick, choosePhone, choosePlace } from './names.ts'
import { createRandom, type Random } from './random.ts'
import type { Visitor, WatchRecord } from './world.ts'

interface Audience {
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

/** One live broadcast of a channel. */
export interface Session {
  readonly startsAt: WallTime
  readonly endsAt: WallTime
}

/** A stay of one viewer, to the second. */
interface Stay {
  readonly enteredAt: WallTime
  readonly leftAt: WallTime
  readonly liveSeconds: number
  readonly vodSeconds: number
}

const MINUTE = 60
const HOUR = 3600

/** Broadcasts between `from` and `to`, about two a week; the last one ends just before `to` or is still on. */
export function chooseSessions(
  random: Random,
  from: WallTime,
  to: WallTime,
  isOnAir: boolean,
): readonly [Session, ...Session[]] {
  const last = chooseLastSession(random, from, to, isOnAir)
  const earlier: Session[] = []
  for (let day = Math.floor(from / DAY) * DAY; day < to; day += DAY) {
    const startsAt = day + random.pick([10, 14, 19, 19, 20]) * HOUR + random.pick([0, 0, 30]) * MINUTE
    const endsAt = startsAt + random.between(45, 180) * MINUTE
    if (random.chance(0.3) && startsAt >= from && endsAt < last.startsAt) earlier.push({ startsAt, endsAt })
  }
  return [last, ...earlier]
}

function chooseLastSession(random: Random, from: WallTime, to: WallTime, isOnAir: boolean): Session {
  const endsAt = isOnAir ? to : to - random.between(20, 300) * MINUTE
  return { startsAt: Math.max(from, endsAt - random.between(50, 150) * MINUTE), endsAt }
}

/**
 * One visit: most come early in a broadcast (ramp), stay for an exponential time or to the end (peak, decay); some
 * watch the recording afterwards, some never press play.
 */
function chooseStay(random: Random, session: Session, to: WallTime): Stay {
  const replayAt = Math.floor(session.endsAt + 600 + random.exponential(1.5 * DAY))
  if (random.chance(0.25) && replayAt + MINUTE < to) return chooseReplay(random, replayAt, to)
  const length = session.endsAt - session.startsAt
  const enteredAt = Math.floor(session.startsAt - 300 + random.next() ** 1.7 * (length + 240))
  const wanted = random.chance(0.35)
    ? session.endsAt + random.between(0, 900)
    : enteredAt + Math.floor(random.exponential(20 * MINUTE))
  const leftAt = Math.max(enteredAt, Math.min(wanted, session.endsAt + 1800, to))
  if (random.chance(0.06)) return { enteredAt, leftAt, liveSeconds: 0, vodSeconds: 0 }
  const live = Math.max(0, Math.min(leftAt, session.endsAt) - Math.max(enteredAt, session.startsAt))
  const after = Math.max(0, leftAt - session.endsAt)
  return {
    enteredAt,
    leftAt,
    liveSeconds: Math.floor(live * (0.7 + random.next() * 0.3)),
    vodSeconds: random.chance(0.3) ? Math.floor(after * 0.8) : 0,
  }
}

function chooseReplay(random: Random, enteredAt: WallTime, to: WallTime): Stay {
  const leftAt = Math.min(to, enteredAt + 5 + Math.floor(random.exponential(25 * MINUTE)))
  return { enteredAt, leftAt, liveSeconds: 0, vodSeconds: Math.floor((leftAt - enteredAt) * 0.9) }
}

/** A page left open for days: durations beyond 24 hours, where the history is long enough for one. */
function chooseLongStay(random: Random, from: WallTime, to: WallTime): Stay | undefined {
  const seconds = random.pick([125 * HOUR + 189, 125 * HOUR + 189, 26 * HOUR + 61, 49 * HOUR])
  const enteredAt = to - seconds - random.between(2, 20) * HOUR
  if (enteredAt < from) return undefined
  return { enteredAt, leftAt: enteredAt + seconds, liveSeconds: 0, vodSeconds: seconds - random.between(0, 60) }
}

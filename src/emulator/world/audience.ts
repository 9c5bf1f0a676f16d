import { DAY, HOUR, MINUTE, type WallTime } from '../../core/wall-clock.ts'
import { chooseEquipment, chooseIp, chooseNick, choosePhone, choosePlace } from './names.ts'
import { createRandom, type Random } from './random.ts'
import type { Visitor, WatchRecord } from './world.ts'

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
/** 2^53 + 1, which no double can represent. */
const RECORD_ID_BEYOND_DOUBLES = '9007199254740993'

/** Creates the viewers of one channel and their visits; the figures of a visitor are sums over the visits. */
export function createAudience(options: AudienceOptions): {
  readonly visitors: Visitor[]
  readonly records: WatchRecord[]
} {
  const { seed, channelIndex, viewers } = options
  const random = createRandom(seed, 'audience', channelIndex)
  const visitors: Visitor[] = []
  const visits: Visit[] = []
  for (let index = 0; index < viewers; index += 1) {
    // A tenth of the viewers are the same people in every channel.
    const person =
      index < viewers / 10
        ? createPerson(createRandom(seed, 'regular', index), 1, index)
        : createPerson(random, channelIndex + 2, index)
    const ownVisits = createVisits(random, options, person, index)
    visitors.push(createVisitor(random, person, ownVisits))
    for (const visit of ownVisits) visits.push(visit)
  }
  visits.sort((a, b) => a.enteredAt - b.enteredAt)
  const firstId = FIRST_RECORD_ID + channelIndex * RECORD_IDS_PER_CHANNEL
  const isLong = (index: number) => channelIndex === 0 && index === visits.length - 1
  const records = visits.map((visit, index) => ({
    recordId: isLong(index) ? RECORD_ID_BEYOND_DOUBLES : String(firstId + index),
    ...visit,
  }))
  return { visitors, records }
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

/** An opaque id in one of three formats, unique within a channel because each contains the viewer's index. */
function createUserId(random: Random, group: number, index: number): string {
  const shape = random.next()
  if (shape < 0.4) return String(group * 10_000_000 + index * 7 + random.between(0, 6))
  if (shape < 0.7) return `${random.between(0x1000_0000, 0xffff_ffff).toString(16)}${(index + 0x100_0000).toString(16)}`
  return `${random.hash(3)}${index.toString(36).padStart(5, 'z')}`
}

function createVisits(
  random: Random,
  { sessions, from, to }: AudienceOptions,
  person: Person,
  index: number,
): [Visit, ...Visit[]] {
  const usualEquipment = chooseEquipment(random)
  const toVisit = (stay: Stay): Visit => ({
    ...person,
    ...(random.chance(0.15) ? chooseEquipment(random) : usualEquipment),
    ...stay,
    onlineSeconds: stay.leftAt - stay.enteredAt,
    watchSeconds: stay.liveSeconds + stay.vodSeconds,
  })
  const visit = () => toVisit(chooseStay(random, random.pick(sessions), to))
  const visits: [Visit, ...Visit[]] = [visit()]
  const more = index % 97 === 5 ? random.between(8, 20) : Math.min(8, Math.floor(random.exponential(1.2)))
  for (let count = 0; count < more; count += 1) visits.push(visit())
  const longStay = index % 400 === 7 ? chooseLongStay(random, from, to) : undefined
  if (longStay) visits.push(toVisit(longStay))
  return visits
}

function createVisitor(random: Random, person: Person, visits: readonly [Visit, ...Visit[]]): Visitor {
  const sum = (field: 'watchSeconds' | 'liveSeconds' | 'vodSeconds' | 'onlineSeconds') =>
    visits.reduce((total, visit) => total + visit[field], 0)
  const { device, browser, origin, leftAt } = visits.reduce((a, b) => (b.leftAt >= a.leftAt ? b : a))
  return {
    ...person,
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
    firstLoginAt: Math.min(...visits.map(({ enteredAt }) => enteredAt)),
    lastOnlineAt: leftAt,
  }
}

/** One live broadcast of a channel. */
export interface Session {
  readonly startsAt: WallTime
  readonly endsAt: WallTime
}

/** When one viewer was there, and for how long the viewer watched. */
type Stay = Pick<WatchRecord, 'enteredAt' | 'leftAt' | 'liveSeconds' | 'vodSeconds'>

/** Broadcasts between `from` and `to`, about two a week; the last one ends just before `to` or is still on. */
export function chooseSessions(
  random: Random,
  from: WallTime,
  to: WallTime,
  isOnAir: boolean,
): readonly [Session, ...Session[]] {
  const lastEndsAt = isOnAir ? to : to - random.between(20, 300) * MINUTE
  const last = { startsAt: Math.max(from, lastEndsAt - random.between(50, 150) * MINUTE), endsAt: lastEndsAt }
  const earlier: Session[] = []
  for (let day = Math.floor(from / DAY) * DAY; day < to; day += DAY) {
    const startsAt = day + random.pick([10, 14, 19, 19, 20]) * HOUR + random.pick([0, 0, 30]) * MINUTE
    const endsAt = startsAt + random.between(45, 180) * MINUTE
    if (random.chance(0.3) && startsAt >= from && endsAt < last.startsAt) earlier.push({ startsAt, endsAt })
  }
  return [last, ...earlier]
}

/**
 * One visit. Most viewers come early in a broadcast and stay for an exponentially distributed time or to the end; some
 * watch the recording afterwards, some never press play.
 */
function chooseStay(random: Random, session: Session, to: WallTime): Stay {
  const replayAt = Math.floor(session.endsAt + 600 + random.exponential(1.5 * DAY))
  if (random.chance(0.25) && replayAt + MINUTE < to) {
    const leftAt = Math.min(to, replayAt + 5 + Math.floor(random.exponential(25 * MINUTE)))
    return { enteredAt: replayAt, leftAt, liveSeconds: 0, vodSeconds: Math.floor((leftAt - replayAt) * 0.9) }
  }
  const length = session.endsAt - session.startsAt
  const enteredAt = Math.floor(session.startsAt - 300 + random.next() ** 1.7 * (length + 240))
  const plannedLeave = random.chance(0.35)
    ? session.endsAt + random.between(0, 900)
    : enteredAt + Math.floor(random.exponential(20 * MINUTE))
  const leftAt = Math.max(enteredAt, Math.min(plannedLeave, session.endsAt + 1800, to))
  if (random.chance(0.06)) return { enteredAt, leftAt, liveSeconds: 0, vodSeconds: 0 }
  const live = Math.max(0, Math.min(leftAt, session.endsAt) - Math.max(enteredAt, session.startsAt))
  const after = Math.max(0, leftAt - session.endsAt)
  const liveSeconds = Math.floor(live * (0.7 + random.next() * 0.3))
  return { enteredAt, leftAt, liveSeconds, vodSeconds: random.chance(0.3) ? Math.floor(after * 0.8) : 0 }
}

/** A page left open for more than a day, so that durations exceed 24 hours; undefined if the history is too short. */
function chooseLongStay(random: Random, from: WallTime, to: WallTime): Stay | undefined {
  const seconds = random.pick([125 * HOUR + 189, 125 * HOUR + 189, 26 * HOUR + 61, 49 * HOUR])
  const enteredAt = to - seconds - random.between(2, 20) * HOUR
  if (enteredAt < from) return undefined
  return { enteredAt, leftAt: enteredAt + seconds, liveSeconds: 0, vodSeconds: seconds - random.between(0, 60) }
}

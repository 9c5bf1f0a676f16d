import { DAY, type WallTime } from '../../core/wall-clock.ts'
import type { Random } from './random.ts'

/** One live broadcast of a channel. */
export interface Session {
  readonly startsAt: WallTime
  readonly endsAt: WallTime
}

/** A stay of one viewer, to the second. */
export interface Stay {
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
 * One visit: most come early in a broadcast (ramp), stay for an exponential time or to the end (peak, decay); some watch the
 * recording afterwards, some never press play.
 */
export function chooseStay(random: Random, session: Session, to: WallTime): Stay {
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
export function chooseLongStay(random: Random, from: WallTime, to: WallTime): Stay | undefined {
  const seconds = random.pick([125 * HOUR + 189, 125 * HOUR + 189, 26 * HOUR + 61, 49 * HOUR])
  const enteredAt = to - seconds - random.between(2, 20) * HOUR
  if (enteredAt < from) return undefined
  return { enteredAt, leftAt: enteredAt + seconds, liveSeconds: 0, vodSeconds: seconds - random.between(0, 60) }
}

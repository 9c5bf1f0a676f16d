import type { RangeOf } from '../app/judge-health.ts'
import { subtractWindows, type Window } from '../core/slice.ts'
import { DAY, type WallTime } from '../core/wall-clock.ts'
import type { LedgerUnit } from '../ledger/latest-readings.ts'
import type { OpenReading } from '../ledger/open-readings.ts'
import { TIMELINE_DAYS } from './facts.ts'

/**
 * The state of one day of a stream. The first that applies: `problem` (short or failed), `gap`, `none` (nothing is
 * read), `accepted`, `complete`, `partial` (some of it is not read yet).
 */
type DayState = 'problem' | 'gap' | 'accepted' | 'partial' | 'complete' | 'none'

export type TimelineDay = ReturnType<typeof timelineOf>[number]

/** What the ledger holds of one stream, in all channels or in one. */
export interface TimelineFacts {
  readonly now: WallTime
  readonly units: readonly LedgerUnit[]
  readonly open: readonly OpenReading[]
  readonly rangeOf: RangeOf
  /** How many channels should be read, if that is more than the ledger knows. */
  readonly outOf?: number
}

/**
 * The last days of a stream that is read by ranges of time, today last. `share`, from 0 to 1: how much of the day, over
 * all channels, has been read; `faulty`: how much of it has the problem, gap or shortfall of `state`, if it is one.
 */
export function timelineOf({ now, units, open, rangeOf, outOf = 0 }: TimelineFacts) {
  const windowed = units.filter(({ isWindowed }) => isWindowed)
  const channels = new Set(windowed.map(({ channelId }) => channelId)).size
  return lastPeriodStarts(now, DAY, TIMELINE_DAYS).map((day) => {
    const span = { from: day, to: Math.min(day + DAY, now) }
    const faults = open.flatMap(({ kind, channelId, window }) =>
      window && overlap(window.from, window.to, span) > 0 ? [{ kind, channelId, ...window }] : [],
    )
    const secondsWith = (kind: DayState) => {
      const ofKind = faults.filter((each) => each.kind === kind)
      // Partitions of one channel, such as its two types of gifts, count once.
      const byChannel = Map.groupBy(ofKind, ({ channelId }) => channelId)
      const free = [...byChannel.values()].flatMap((ofOne) => subtractWindows(span, ofOne))
      return free.reduce((sum, { from, to }) => sum + from - to, byChannel.size * (span.to - span.from))
    }
    const covered = windowed.reduce((sum, unit) => sum + overlap(unit.since, unit.until, span), 0)
    const ofKnown = windowed.reduce((sum, unit) => sum + secondsToRead(unit, span, rangeOf), 0)
    const toRead = ofKnown * Math.max(1, outOf / channels)
    const share = toRead === 0 ? 0 : Math.min(1, Math.max(0, (covered - secondsWith('gap')) / toRead))
    const state = stateOf(faults, share)
    const faulty = toRead === 0 ? 0 : secondsWith(state) / toRead
    return { day, share, faulty, state }
  })
}

/** When the last `count` days or hours (`length`, in seconds) began, the current one last. */
export function lastPeriodStarts(now: WallTime, length: number, count: number): readonly WallTime[] {
  const last = Math.floor(now / length) * length
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * length)
}

function overlap(from: WallTime | null, to: WallTime | null, span: Window): number {
  if (from === null || to === null) return 0
  return Math.max(0, Math.min(to, span.to) - Math.max(from, span.from))
}

/** How many seconds of a span should be read: those within the channel's range, and any that have been read anyway. */
function secondsToRead({ channelId, since, until }: LedgerUnit, span: Window, rangeOf: RangeOf): number {
  const range = channelId === null ? {} : rangeOf(channelId)
  const from = Math.min(range.from ?? span.from, since ?? Infinity)
  const to = Math.max(range.until ?? span.to, until ?? -Infinity)
  return overlap(from, to, span)
}

function stateOf(faults: readonly Pick<OpenReading, 'kind'>[], share: number): DayState {
  const has = (kind: OpenReading['kind']) => faults.some((each) => each.kind === kind)
  if (has('problem')) return 'problem'
  if (has('gap')) return 'gap'
  if (share === 0) return 'none'
  if (has('accepted')) return 'accepted'
  return share === 1 ? 'complete' : 'partial'
}

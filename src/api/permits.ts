import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { type Admissions, type CallPace, nothingKnown } from './call-pace.ts'
import { callRate } from './call-rate.ts'
import { grantCalls } from './grant-calls.ts'
import { learnPace, type Refusal } from './learn-pace.ts'
import { orAborted } from './or-aborted.ts'
import type { PaceCell } from './pace-cell.ts'
import { trustPace } from './trust-pace.ts'

/** Leave for one call to go out now; the caller says how it ended, where that tells something about the service's limit. */
export interface Permit {
  readonly admitted: () => void
  readonly refused: (retryAfterMs: number | undefined) => void
}

/** Decides when the next call may go out. Several processes can share one source. */
export interface Permits {
  /** Resolves in the order of asking; rejects with the signal's reason, or with what its preparation throws. */
  readonly take: (signal: AbortSignal, options?: TakeOptions) => Promise<Permit>
}

/** Something that a call needs, and that does not last. */
export interface Preparation {
  readonly isReady: () => boolean
  readonly prepare: (signal: AbortSignal) => Promise<void>
}

export interface TakeOptions {
  /** What has to be waited for when its turn has come: else those that have leave would wait for it and then go at once. */
  readonly preparation?: Preparation
  /** Goes before all others: the preparation of one of them waits for it. */
  readonly isUrgent?: boolean
}

export interface PermitsOptions {
  /** Hard ceiling; 0 for none. */
  readonly maxCallsPerSecond: number
  /** Where the pace is kept for all who share it. */
  readonly cell: PaceCell
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1, exclusive. */
  readonly random: () => number
}

/** Calls are granted for so long ahead at once, so that the exchanges with the cell are few; */
const LEASE_MS = 250
/** one call for so long, where others took everything for a while; */
const LONGEST_AHEAD_MS = 2000
/** and the next ones are asked for when so much is left. */
const LOW_MS = 60
/** What others have learnt is looked up this often while calls are made. */
const LOOK_MS = 250
/** A call that is later than this has lost its place: with it, too many could arrive within a second. */
const LATE_MS = 25
/** Where only a found rate limits, nothing is hard. */
const LATE_BELOW_FOUND_RATE_MS = 150
/** How long an exchange may take before the first call that it grants can leave. */
const LONGEST_LEAD_MS = 500
/** No instant that was granted lies further ahead: a clock has changed since. */
const FURTHEST_MS = LONGEST_LEAD_MS + LONGEST_AHEAD_MS

/**
 * Paces calls together with all who share the cell. The service's limits are not shown by the spec, so the rate is found:
 * none below the ceiling until the service refuses, then what it admits, with gentle tries upwards (`call-rate.ts`).
 * @throws from `take`, what the cell throws
 */
export function createPermits({ maxCallsPerSecond, cell, clock, log, random }: PermitsOptions): Permits {
  const ceiling = maxCallsPerSecond
  const lateMs = ceiling > 0 ? LATE_MS : LATE_BELOW_FOUND_RATE_MS
  let pace: CallPace | undefined
  /** Granted and not used, in order. */
  let slots: readonly number[] = []
  let waiting = 0
  let usedLately = 0
  /** Granted, and nobody was there to use them: so many fewer are asked for. */
  let lostLately = 0
  /** How often nothing was to be had: the longer one waits, the further ahead one may take. */
  let misses = 0
  let admissions: Admissions[] = []
  let refusals: Refusal[] = []
  let lookedAt = Number.NEGATIVE_INFINITY
  let leadMs = 0
  let flight: Promise<void> | undefined
  let turn: Promise<unknown> = Promise.resolve()

  const isFree = (known: CallPace): boolean => callRate(known, ceiling) === Number.POSITIVE_INFINITY

  const exchange = async (): Promise<void> => {
    const report = { admissions, refusals }
    const wanted = waiting === 0 ? 0 : waiting + Math.max(0, usedLately - lostLately) - slots.length
    const foundBefore = pace?.limit?.foundAtMs
    const askedAt = cell.now()
    admissions = []
    refusals = []
    usedLately = 0
    lostLately = 0
    const changed = await cell.exchange((kept, nowMs) => {
      const trusted = trustPace(kept ?? nothingKnown(nowMs), { nowMs, aheadMs: FURTHEST_MS, ceiling })
      const known = learnPace(trusted, { ...report, nowMs }, ceiling)
      if (isFree(known)) return { pace: known, slots: [] }
      const fromMs = nowMs + leadMs
      const firstUntilMs = fromMs + Math.min(LEASE_MS * (1 + misses), LONGEST_AHEAD_MS)
      return grantCalls(known, { ceiling, wanted, fromMs, untilMs: fromMs + LEASE_MS, firstUntilMs })
    })
    pace = changed.pace
    slots = [...slots, ...changed.slots]
    if (wanted > 0) misses = slots.length === 0 ? misses + 1 : 0
    lookedAt = cell.now()
    leadMs = Math.min(Math.max(leadMs * 0.9, (lookedAt - askedAt) * 1.2), LONGEST_LEAD_MS)
    if (report.refusals.length > 0 && pace.limit?.foundAtMs !== foundBefore) {
      log.debug('calls.slowed', { callsPerSecond: callRate(pace, ceiling) })
    }
  }

  /** One exchange at a time; what came to light meanwhile is told at once. */
  const share = (): Promise<void> => {
    const exchangeAll = async (): Promise<void> => {
      do await exchange()
      while (refusals.length > 0)
    }
    flight ??= exchangeAll().finally(() => {
      flight = undefined
    })
    return flight
  }

  /** Also where a clock has gone back since. */
  const isDue = (): boolean => Math.abs(cell.now() - lookedAt) >= LOOK_MS

  /** Nobody waits for it: what is wrong with the cell is told to the next who does. */
  const shareAside = (): void => {
    share().catch(() => {})
  }

  const permitFor = (leftAtMs: number): Permit => ({
    admitted: () => void admissions.push({ atMs: cell.now(), count: 1 }),
    refused: (retryAfterMs) => {
      refusals.push({ leftAtMs, retryAfterMs })
      shareAside()
    },
  })

  const depart = async (signal: AbortSignal, preparation: Preparation | undefined): Promise<Permit> => {
    signal.throwIfAborted()
    await preparation?.prepare(signal)
    // Once more where it did not last until the call could leave; what does not last even then is left to the call.
    let isPrepared = preparation === undefined
    for (;;) {
      signal.throwIfAborted()
      if (!pace || refusals.length > 0) {
        await orAborted(share(), signal)
        continue
      }
      const now = cell.now()
      if (isFree(pace)) {
        slots = []
        if (isDue()) shareAside()
        return permitFor(now)
      }
      const { pausedUntilMs } = pace
      const valid = slots.filter((at) => at >= now - lateMs && at <= now + FURTHEST_MS && at >= pausedUntilMs)
      lostLately += slots.length - valid.length
      slots = valid
      const [slot, ...rest] = slots
      if (slot === undefined) {
        await orAborted(share(), signal)
        // Not all at the same time: else the same one were always first.
        if (misses > 0) await clock.sleep(LOOK_MS * (0.5 + random()), signal)
      } else if (slot <= now && !isPrepared && preparation?.isReady() === false) {
        isPrepared = true
        await preparation.prepare(signal)
      } else if (slot <= now) {
        slots = rest
        usedLately += 1
        if (waiting > slots.length && (slots.at(-1) ?? now) < now + LOW_MS) shareAside()
        return permitFor(now)
      } else {
        await clock.sleep(Math.ceil(Math.min(slot - now, LOOK_MS)), signal)
        if (isDue()) await orAborted(share(), signal)
      }
    }
  }

  return {
    take: (signal, { preparation, isUrgent = false } = {}) => {
      waiting += 1
      const go = () => depart(signal, preparation)
      const mine = isUrgent ? go() : turn.then(go)
      const leave = (): void => void (waiting -= 1)
      const left = mine.then(leave, leave)
      if (!isUrgent) turn = left
      return mine
    },
  }
}

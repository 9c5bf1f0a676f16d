import pLimit from 'p-limit'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { PaceCell } from '../core/pace-cell.ts'
import { learn, parseCallPace, rateAt, type Second } from './call-rate.ts'
import { orAborted } from '../core/when-aborted.ts'
import type { Call } from './send.ts'

/** Leave for one call to go out now; the caller reports how it ended. */
export interface Permit {
  /** With anything but a refusal. */
  readonly answered: () => void
  readonly refused: (retryAfterMs: number | undefined) => void
}

/** Decides when the next call may leave. */
export interface Permits {
  /**
   * For each endpoint (`base` for a bare address) the channels in turn. `prepare`: waits, when the call's turn has
   * come, for what it needs and what does not last; it may be called again. Rejects with the signal's reason, or with
   * what `prepare` throws.
   */
  readonly take: (
    call: Pick<Call, 'channelId' | 'endpoint'>,
    signal: AbortSignal,
    prepare?: () => Promise<void>,
  ) => Promise<Permit>
}

interface PermitsOptions {
  /** Hard ceiling; 0 for none. */
  readonly maxCallsPerSecond: number
  readonly cell: PaceCell
  readonly clock: Clock
  readonly log: Log
}

/** So long after an exchange the next begins. Instants are taken for this and for as long as an exchange takes. */
const LEASE_MS = 250
/** A call that is later at the ceiling has lost its instant: else too many could arrive within a second. */
const LATE_MS = 25
/** Nothing is held back for longer, whatever the service asks for. */
const LONGEST_PAUSE_MS = 60_000

/** What each call passes: that of its endpoint, then that of the ceiling. */
interface Gate {
  readonly key: string
  readonly inTurn: InTurn
  /** Calls a second; 0 before the first exchange. */
  rate: number
  /** Instants that are this process's, in order. */
  slots: readonly number[]
  waiting: number
  /** Calls that passed since the last exchange, and how others ended. */
  passed: number
  report: Map<number, Second>
}

/**
 * Paces calls together with all who share the cell: each endpoint at the rate that `call-rate.ts` finds, all of them
 * below the ceiling. Instants are evenly spread and taken ahead a few at a time, so that exchanges are few.
 */
export function createPermits({ maxCallsPerSecond, cell, clock, log }: PermitsOptions): Permits {
  const { now: hostNow, monotonicMs = hostNow } = clock
  const gates = new Map<string, Gate>()
  let pausedUntilMs = 0
  let sharedAtMs = Number.NEGATIVE_INFINITY
  let tookMs = Number.POSITIVE_INFINITY
  let leadMs = 0
  let flight: Promise<void> | undefined

  const gateOf = (key: string): Gate => {
    const blank = { rate: 0, slots: [], waiting: 0, passed: 0, report: new Map<number, Second>() }
    const gate = gates.get(key) ?? { key, inTurn: createTurns(), ...blank }
    gates.set(key, gate)
    return gate
  }
  const ceiling = gateOf('ceiling')
  // It leaves twice the room of a call that is late.
  const ceilingRate = (maxCallsPerSecond || Number.POSITIVE_INFINITY) / (1 + (2 * LATE_MS) / 1000)

  const exchange = async (): Promise<void> => {
    const beganMs = monotonicMs()
    const asked = [...gates.values()].map((gate) => ({ gate, ...gate }))
    for (const { gate } of asked) Object.assign(gate, { passed: 0, report: new Map() })
    const { pace, taken } = await cell.exchange((value, nowMs) => {
      const kept = parseCallPace(value, nowMs)
      // One that is further ahead is of a clock that was set back since.
      const pausedMs = Math.min(Math.max(pausedUntilMs, kept.pausedUntilMs), nowMs + LONGEST_PAUSE_MS)
      const fromMs = Math.max(nowMs + leadMs, pausedMs)
      const taken = asked.map(({ gate, key, report, waiting, passed, slots: held }) => {
        const known = learn(kept.gates[key], [...report.values()], nowMs)
        const rate = gate === ceiling ? ceilingRate : rateAt(known, nowMs)
        const firstMs = Math.max(fromMs, known.nextAtMs)
        // The next exchange begins in `LEASE_MS`, and takes as long as this one; those before will have been used.
        const inTime = Math.floor(((fromMs + LEASE_MS + leadMs - firstMs) * rate) / 1000) + 1
        const left = held.filter((at) => at >= fromMs).length
        // One that has none queues for a single one, however far ahead: else who asks more often were always first.
        const length = Math.max(0, Math.min(waiting + passed - left, Math.max(inTime, left === 0 ? 1 : 0)))
        const slots = Array.from({ length }, (_, index) => firstMs + (index * 1000) / rate)
        return { gate, rate, slots, known: { ...known, nextAtMs: firstMs + (length * 1000) / rate } }
      })
      const learnt = Object.fromEntries(taken.map(({ gate, known }) => [gate.key, known]))
      return { pace: { atMs: nowMs, pausedUntilMs: pausedMs, gates: { ...kept.gates, ...learnt } }, taken }
    })
    sharedAtMs = cell.now()
    const lastTookMs = tookMs
    // The first exchange also corrects the time of this process, which is no part of how long it took.
    tookMs = monotonicMs() - beganMs
    // The shorter of two: after a single one that was slow all would wait once more.
    leadMs = Math.max(0, Math.min(tookMs, lastTookMs, LONGEST_PAUSE_MS))
    pausedUntilMs = Math.min(Math.max(pausedUntilMs, pace.pausedUntilMs), sharedAtMs + LONGEST_PAUSE_MS)
    for (const { gate, rate, slots } of taken) {
      if (rate < gate.rate) log.debug('calls.slowed', { endpoint: gate.key, callsPerSecond: rate })
      gate.slots = rate < gate.rate ? slots : [...gate.slots, ...slots]
      gate.rate = rate
    }
  }

  /** One exchange at a time. */
  const share = (): Promise<void> => (flight ??= exchange().finally(() => (flight = undefined)))

  const pass = async (gate: Gate, signal: AbortSignal): Promise<void> => {
    const lateMs = gate === ceiling ? LATE_MS : LEASE_MS
    for (;;) {
      signal.throwIfAborted()
      const now = cell.now()
      const earliest = Math.max(now - lateMs, pausedUntilMs)
      // One that is very far ahead is of a clock that was set back since.
      gate.slots = gate.slots.filter((at) => at >= earliest && at <= now + 2 * LONGEST_PAUSE_MS)
      const isFree = gate.rate === Number.POSITIVE_INFINITY
      const ageMs = now - sharedAtMs
      const nextMs = isFree ? pausedUntilMs : gate.slots[0]
      if (nextMs === undefined || (isFree && ageMs >= LEASE_MS + leadMs)) {
        await orAborted(share(), signal)
        continue
      }
      // In the background: what may leave must not wait for it.
      if (Math.abs(ageMs) >= LEASE_MS) void share()
      if (nextMs > now) {
        await clock.sleep(Math.ceil(Math.min(nextMs - now, LEASE_MS)), signal)
      } else {
        gate.slots = gate.slots.slice(1)
        gate.passed += 1
        return
      }
    }
  }

  const count = ({ report }: Gate, ending: 'answered' | 'refused'): void => {
    const at = Math.floor(cell.now() / 1000)
    const second = report.get(at) ?? { at, answered: 0, refused: 0 }
    report.set(at, second)
    second[ending] += 1
  }

  return {
    take: async ({ endpoint, channelId = '' }, signal, prepare) => {
      signal.throwIfAborted()
      const gate = gateOf(endpoint)
      const leave = async (): Promise<void> => {
        await pass(gate, signal)
        await prepare?.()
        await pass(ceiling, signal)
        // What it needs may have gone meanwhile: one that had to wait for it has lost its instant.
        const passedAtMs = cell.now()
        await prepare?.()
        if (cell.now() - passedAtMs > LATE_MS) await pass(ceiling, signal)
      }
      for (const each of [gate, ceiling]) each.waiting += 1
      try {
        await orAborted(gate.inTurn(channelId, leave), signal)
      } finally {
        for (const each of [gate, ceiling]) each.waiting -= 1
      }
      return {
        answered: () => count(gate, 'answered'),
        refused: (retryAfterMs = 0) => {
          count(gate, 'refused')
          if (retryAfterMs <= 0) return
          pausedUntilMs = Math.max(pausedUntilMs, cell.now() + Math.min(retryAfterMs, LONGEST_PAUSE_MS))
          void share()
        },
      }
    },
  }
}

type InTurn = (group: string, work: () => Promise<void>) => Promise<void>

/** @returns does one piece of work at a time; where several groups wait, one of each in turn */
function createTurns(): InTurn {
  const turn = pLimit(1)
  const lastOf = new Map<string, Promise<unknown>>()
  return async (group, work) => {
    const mine = Promise.resolve(lastOf.get(group)).then(() => turn(work))
    const over: Promise<unknown> = mine.catch(() => {})
    lastOf.set(group, over)
    try {
      return await mine
    } finally {
      if (lastOf.get(group) === over) lastOf.delete(group)
    }
  }
}

import pLimit from 'p-limit'
import type { Clock } from '../core/clock.ts'
import { hasCode } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { PaceCell } from '../core/pace-cell.ts'
import type { CallContext } from '../core/page.ts'
import { orAborted } from '../core/when-aborted.ts'
import { learn, parseCallPace, rateAt, type Second } from './call-rate.ts'
import type { Call } from './send.ts'

type Sends<C, A> = (call: C, context: CallContext) => Promise<A>

interface Needs<C> {
  /** Calls that may be under way at once; any number without it. */
  readonly concurrency?: number
  /** Waits for what a call needs before it may leave, and what does not last. */
  readonly prepare?: (call: C, signal: AbortSignal) => Promise<unknown>
}

/** Lets a call leave when its rate allows it and a place is free: for each endpoint the channels in turn. */
export type Pace = <C extends Pick<Call, 'channelId' | 'endpoint'>, A>(
  next: Sends<C, A>,
  needs?: Needs<C>,
) => Sends<C, A>

interface PaceOptions {
  /** Hard ceiling; 0 for none. */
  readonly maxCallsPerSecond: number
  readonly cell: PaceCell
  readonly clock: Clock
  readonly log: Log
}

/** Instants are taken for so long at once, and no call leaves on what was shared longer ago. */
const LEASE_MS = 250
/** A call that is later has lost its instant: else too many could arrive within a second. */
const LATE_MS = 25
/** Nothing is held back for longer, whatever the service asks for. */
const LONGEST_PAUSE_MS = 60_000

/** What each call passes: that of its endpoint, then that of the ceiling. */
interface Gate {
  readonly inTurn: (group: string, work: () => Promise<void>) => Promise<void>
  /** Calls a second; 0 before the first exchange. */
  rate: number
  /** This process's, in order. */
  instants: readonly number[]
  waiting: number
  /** How calls ended since the last exchange. */
  readonly ended: Second[]
}

/**
 * Paces calls together with all who share the cell: each endpoint at the rate that `call-rate.ts` finds, all of them
 * below the ceiling. A gate is a generic cell rate algorithm (ITU-T I.371): whoever has no instants left takes the next
 * that are free, evenly spaced, for as many calls as wait; so processes take turns.
 */
export function createPace({ maxCallsPerSecond, cell, clock, log }: PaceOptions): Pace {
  const gates = new Map<string, Gate>()
  const gateOf = (key: string): Gate => {
    const gate = gates.get(key) ?? { inTurn: createTurns(), rate: 0, instants: [], waiting: 0, ended: [] }
    gates.set(key, gate)
    return gate
  }
  const ceiling = gateOf('ceiling')
  // It leaves twice the room of a call that is late.
  const ceilingRate = (maxCallsPerSecond || Number.POSITIVE_INFINITY) / (1 + (2 * LATE_MS) / 1000)
  let pausedUntilMs = 0
  let sharedAtMs = Number.NEGATIVE_INFINITY
  let leadMs = 0
  let flight: Promise<void> | undefined

  const exchange = async (): Promise<void> => {
    const asked = [...gates].map(([key, gate]) => ({ key, gate, ended: gate.ended.splice(0) }))
    const { pace, given } = await cell.exchange((value, nowMs) => {
      const kept = parseCallPace(value, nowMs)
      // What is further ahead is asked for by a service or left by a clock that was set back since.
      pausedUntilMs = Math.min(Math.max(pausedUntilMs, kept.pausedUntilMs), nowMs + LONGEST_PAUSE_MS)
      const given = asked.map(({ key, gate, ended }) => {
        const known = learn(kept.gates[key], ended, nowMs)
        const rate = gate === ceiling ? ceilingRate : rateAt(known, nowMs)
        const firstMs = Math.max(nowMs + leadMs, pausedUntilMs, known.nextAtMs)
        const most = Math.max(1, Math.floor((LEASE_MS * rate) / 1000))
        const length = gate.instants.length > 0 ? 0 : Math.min(gate.waiting, most)
        const instants = Array.from({ length }, (_, index) => firstMs + (index * 1000) / rate)
        const nextAtMs = length > 0 ? firstMs + (length * 1000) / rate : known.nextAtMs
        return { key, gate, rate, instants, known: { ...known, nextAtMs } }
      })
      const learnt = Object.fromEntries(given.map(({ key, known }) => [key, known]))
      return { pace: { atMs: nowMs, pausedUntilMs, gates: { ...kept.gates, ...learnt } }, given }
    })
    sharedAtMs = cell.now()
    // What is taken next begins when it will have come.
    leadMs = Math.min(sharedAtMs - pace.atMs, LONGEST_PAUSE_MS)
    for (const { key, gate, rate, instants } of given) {
      if (rate < gate.rate) log.debug('calls.slowed', { endpoint: key, callsPerSecond: rate })
      gate.rate = rate
      gate.instants = [...gate.instants, ...instants]
    }
  }

  /** One exchange at a time. */
  const share = (): Promise<void> => (flight ??= exchange().finally(() => (flight = undefined)))

  const pass = async (gate: Gate, signal: AbortSignal, isReady = async () => {}): Promise<void> => {
    for (let looks = 0; ; ) {
      const now = cell.now()
      const ageMs = now - sharedAtMs
      const earliest = Math.max(now - LATE_MS, pausedUntilMs)
      // One that is very far ahead is of a clock that was set back since.
      gate.instants = gate.instants.filter((at) => at >= earliest && at <= now + 2 * LONGEST_PAUSE_MS)
      const nextMs = gate.rate === Number.POSITIVE_INFINITY ? pausedUntilMs : gate.instants[0]
      // In the background, as long before as it takes: what may leave must not wait for it.
      if (ageMs >= LEASE_MS - 2 * leadMs) void share()
      if (nextMs === undefined || ageMs >= LEASE_MS) {
        await orAborted(share(), signal)
      } else if (nextMs > now) {
        await clock.sleep(Math.min(nextMs - now, LEASE_MS), signal)
      } else {
        gate.instants = gate.instants.slice(1)
        // What has been made ready twice is used, whatever is left of it.
        if (looks < 2) await isReady()
        looks++
        // One that had to wait for what it needs has lost its instant.
        if (cell.now() - now <= LATE_MS) return
      }
    }
  }

  return (next, { concurrency = Number.POSITIVE_INFINITY, prepare = async () => {} } = {}) => {
    const places = pLimit(concurrency)
    return async (call, context) => {
      const { signal } = context
      // At once, so that all calls report together what is wrong with it; and when its turn has come, which may be much
      // later.
      await prepare(call, signal)
      const gate = gateOf(call.endpoint)
      const over = Promise.withResolvers<void>()
      let place: Promise<void> | undefined
      const ready = async (): Promise<void> => {
        place ??= new Promise((taken) => void places(() => (taken(), over.promise)))
        await orAborted(place, signal)
        await prepare(call, signal)
      }
      const leave = async (): Promise<void> => {
        await pass(gate, signal)
        // Only now: the calls of an endpoint that is slow must not hold every place while they wait for their turn.
        await ready()
        // What it needs may have gone meanwhile.
        await pass(ceiling, signal, ready)
      }
      let ended: 'answered' | 'refused' | undefined
      try {
        for (const each of [gate, ceiling]) each.waiting += 1
        const turn = orAborted(gate.inTurn(call.channelId ?? '', leave), signal)
        await turn.finally(() => {
          for (const each of [gate, ceiling]) each.waiting -= 1
        })
        ended = 'answered'
        return await next(call, context)
      } catch (error) {
        // A refusal of the token's service is none of this endpoint.
        if (ended !== undefined && hasCode(error, 'api.rateLimited')) {
          ended = 'refused'
          const { retryAfterMs = 0 } = error.details
          pausedUntilMs = Math.max(pausedUntilMs, cell.now() + retryAfterMs)
          if (retryAfterMs > 0) void share()
        }
        throw error
      } finally {
        over.resolve()
        if (ended) gate.ended.push({ at: Math.floor(cell.now() / 1000), answered: 0, refused: 0, [ended]: 1 })
      }
    }
  }
}

/** @returns does one piece of work at a time; where several groups wait, one of each in turn */
function createTurns(): Gate['inTurn'] {
  const turn = pLimit(1)
  const lastOf = new Map<string, Promise<void>>()
  return async (group, work) => {
    const mine = Promise.resolve(lastOf.get(group)).then(() => turn(work))
    const over = mine.catch(() => {})
    lastOf.set(group, over)
    await over
    if (lastOf.get(group) === over) lastOf.delete(group)
    await mine
  }
}

import PQueue from 'p-queue'
import { type Clock, orAborted } from '../core/clock.ts'
import { hasCode } from '../core/errors.ts'
import type { CallContext } from '../core/page.ts'
import type { UpdatePace } from '../core/shared-calls.ts'
import { type EndedCalls, estimateRateLimit, MARGIN, parseCallPace, rateAt } from './call-rate.ts'

type Sends<C, A> = (call: C, context: CallContext) => Promise<A>
type Layer = <C extends { readonly endpoint: string }, A>(next: Sends<C, A>) => Sends<C, A>

/** The two layers: one holds calls to the rate of their endpoint, the other holds all to the ceiling. */
export type Pace = Readonly<Record<'endpointRate' | 'ceiling', Layer>>

/** How far ahead instants are taken, and how often; once a second while no limit is known (ADR 0082). */
const EXCHANGE_MS = 250
/** A call that is later than this loses its instant: half of the time that the margin leaves free in a second. */
const LATE_MS = (1000 * MARGIN) / 2

/** Lets calls pass one at a time, in order, at `instants` of this process's clock; `rate` is 0 before an exchange. */
const createGate = () => ({
  turn: new PQueue({ concurrency: 1 }),
  rate: 0,
  instants: new Array<number>(),
  ended: new Array<EndedCalls>(),
})
type Gate = ReturnType<typeof createGate>

/** The generic cell rate algorithm (ITU-T I.371): gives waiting calls the next free instants, evenly spaced. */
function takeInstants({ turn, instants }: Gate, rate: number, firstMs: number): readonly number[] {
  const most = Math.max(1, Math.floor((EXCHANGE_MS * rate) / 1000))
  const waiting = turn.pending + turn.size - instants.length
  return Array.from({ length: Math.min(waiting, most) }, (_, index) => firstMs + (index * 1000) / rate)
}

/** Shares with all processes of a pace which calls have ended, the rates, and the next free instants. */
function createExchange(updatePace: UpdatePace, maxCallsPerSecond: number, now: () => number) {
  const gates: Record<string, Gate> = {}
  const gateOf = (key: string): Gate => (gates[key] ??= createGate())
  const ceiling = gateOf('ceiling')
  const ceilingRate = (maxCallsPerSecond || Number.POSITIVE_INFINITY) * (1 - MARGIN)
  const schedule = {
    /** No call leaves before this time. */
    pausedUntilMs: 0,
    /** When the next exchange is due, and how long to allow for it, raised slowly: a slow one may be an exception. */
    nextExchangeMs: Number.NEGATIVE_INFINITY,
    leadMs: 0,
  }
  let last = { aheadMs: Number.NaN, begunMs: Number.NaN }
  let pending: Promise<void> | undefined

  const exchange = async (): Promise<void> => {
    const requests = Object.entries(gates).map(([key, gate]) => ({ key, gate, ended: gate.ended.splice(0) }))
    const { pace, grants, aheadMs } = await updatePace((value, nowMs) => {
      const stored = parseCallPace(value, nowMs)
      const aheadMs = nowMs - now()
      // If the shared clock was set, or the shared pace was lost in a crash of the database, the instants taken from it
      // are void. Other processes notice at their next exchange.
      const isLost = value === null || Math.abs(stored.begunMs - last.begunMs) > 0
      const isVoid = isLost || Math.abs(aheadMs - last.aheadMs) > LATE_MS
      if (isVoid) for (const gate of Object.values(gates)) gate.instants = []
      schedule.pausedUntilMs = Math.max(schedule.pausedUntilMs, stored.pausedUntilMs - aheadMs)
      const earliestMs = Math.max(nowMs + (isVoid ? EXCHANGE_MS : schedule.leadMs), schedule.pausedUntilMs + aheadMs)
      const grants = requests.map(({ key, gate, ended }) => {
        const since = ended.map((each) => ({ ...each, atMs: each.atMs + aheadMs }))
        const limits = estimateRateLimit(stored.gates[key], since, nowMs)
        const rate = gate === ceiling ? ceilingRate : rateAt(limits, nowMs)
        const instants = takeInstants(gate, rate, Math.max(earliestMs, limits.nextAtMs))
        const lastMs = instants.at(-1)
        const nextAtMs = lastMs === undefined ? limits.nextAtMs : lastMs + 1000 / rate
        return { key, gate, rate, instants, limits: { ...limits, nextAtMs } }
      })
      const pausedUntilMs = schedule.pausedUntilMs + aheadMs
      const limitsOf = { ...stored.gates, ...Object.fromEntries(grants.map(({ key, limits }) => [key, limits])) }
      return { pace: { ...stored, atMs: nowMs, pausedUntilMs, gates: limitsOf }, grants, aheadMs }
    })
    last = { aheadMs, begunMs: pace.begunMs }
    const hasRefusals = ({ limits }: (typeof grants)[number]) => limits.ended.some(({ refused }) => refused > 0)
    const isLimited = grants.some((grant) => Number.isFinite(grant.rate) || hasRefusals(grant))
    schedule.nextExchangeMs = now() + (isLimited ? EXCHANGE_MS : 1000)
    schedule.leadMs = Math.min(now() + aheadMs - pace.atMs, schedule.leadMs + EXCHANGE_MS)
    for (const { gate, rate, instants } of grants) {
      gate.rate = rate
      gate.instants.push(...instants.map((instant) => instant - aheadMs))
    }
  }
  /** Joins the current exchange, or starts one. */
  const share = (): Promise<void> => (pending ??= exchange().finally(() => (pending = undefined)))
  /** Starts an exchange after the current one. */
  const shareNext = (): void =>
    void Promise.resolve(pending)
      .then(share)
      .catch(() => {})
  return { gateOf, ceiling, schedule, share, shareNext }
}

/**
 * Paces calls jointly with all processes that share a pace: each endpoint at the rate that `call-rate.ts` finds, all of
 * them below the ceiling (0: none). A process takes instants only for calls that already wait, so processes take turns.
 */
export function createPace(updatePace: UpdatePace, maxCallsPerSecond: number, clock: Clock): Pace {
  const now = clock.monotonicMs ?? clock.now
  const { gateOf, ceiling, schedule, share, shareNext } = createExchange(updatePace, maxCallsPerSecond, now)

  const pass = async (gate: Gate, signal: AbortSignal): Promise<void> => {
    for (;;) {
      signal.throwIfAborted()
      const atMs = now()
      gate.instants = gate.instants.filter((instant) => instant >= Math.max(atMs - LATE_MS, schedule.pausedUntilMs))
      const nextMs = gate.rate === Number.POSITIVE_INFINITY ? schedule.pausedUntilMs : gate.instants[0]
      // Exchange in the background, early enough to finish before the call leaves: to await it would delay the call.
      // If it fails, the next exchange that is awaited reports why.
      const dueMs = Math.max(schedule.nextExchangeMs, nextMs ?? atMs) - 2 * schedule.leadMs
      if (dueMs <= atMs) void share().catch(() => {})
      if (nextMs === undefined || (nextMs <= atMs && schedule.nextExchangeMs <= atMs)) await orAborted(share(), signal)
      else if (nextMs > atMs) await clock.sleep((dueMs > atMs ? Math.min(nextMs, dueMs) : nextMs) - atMs, signal)
      else return void gate.instants.shift()
    }
  }

  const enter = async (gate: Gate, signal: AbortSignal) =>
    await gate.turn.add(async () => await pass(gate, signal), { signal })

  return {
    endpointRate: (next) => async (call, context) => {
      await enter(gateOf(call.endpoint), context.signal)
      return await next(call, context)
    },
    ceiling: (next) => async (call, context) => {
      await enter(ceiling, context.signal)
      let refused = 0
      try {
        return await next(call, context)
      } catch (error) {
        if (hasCode(error, 'api.rateLimited')) {
          refused = 1
          schedule.pausedUntilMs = Math.max(schedule.pausedUntilMs, now() + (error.details.retryAfterMs ?? 0))
          const isSlow = gateOf(call.endpoint).rate <= 1
          if (error.details.retryAfterMs || isSlow || schedule.nextExchangeMs > now() + EXCHANGE_MS) shareNext()
        }
        throw error
      } finally {
        gateOf(call.endpoint).ended.push({ atMs: now(), calls: 1, refused })
      }
    },
  }
}

import PQueue from 'p-queue'
import type { Clock } from '../../src/core/clock.ts'
import { hasCode, LivehouseError } from '../../src/core/errors.ts'
import type { UpdatePace } from '../../src/core/shared-calls.ts'
import { createRandom } from '../../src/emulator/world/random.ts'
import { createPace } from '../../src/service/pace.ts'
import type { Call } from '../../src/service/send.ts'
import { openContext } from './connect-client.ts'
import { createFakeClock } from './fake-clock.ts'

/** @returns whether the service takes a call at this instant */
type Admits = (nowMs: number) => boolean

/** How services may count calls. */
const serviceKinds = {
  /** A bucket that holds one second's calls, one at least. */
  bucket: (limit: number): Admits => {
    let tokens = Math.max(1, limit)
    let filledAt: number | undefined
    return (now) => {
      tokens = Math.min(Math.max(1, limit), tokens + ((now - (filledAt ?? now)) / 1000) * limit)
      filledAt = now
      if (tokens < 1) return false
      tokens -= 1
      return true
    }
  },
  /** `limit` calls in each second of the service's clock. */
  'fixed window': (limit: number): Admits => {
    let second = 0
    let count = 0
    return (now) => {
      const current = Math.floor((now - 370) / 1000)
      if (current !== second) count = 0
      second = current
      if (count >= limit) return false
      count += 1
      return true
    }
  },
}

export interface Simulation {
  readonly service: keyof typeof serviceKinds
  /** Calls per second; unlimited if not given. */
  readonly limit?: number
  /** Whether a call is refused regardless of the limit; `second` counts from the start. */
  readonly refuses?: (second: number, random: () => number) => boolean
  readonly seconds: number
  readonly processes?: number
  /** Callers per process, which call without a pause. */
  readonly callers?: number
  /** Simultaneous calls per process; unlimited if not given. */
  readonly places?: number
  /** Whether as many callers again call another endpoint, which has no limit. */
  readonly hasFreeEndpoint?: boolean
  readonly ceiling?: number
  readonly latencyMs?: number
  readonly retryAfterMs?: number
  /** How long each of the two statements of an exchange takes; a single process needs none. */
  readonly statementMs?: (random: () => number) => number
  /** How long each process is held up at a time, with half to one and a half seconds in between. */
  readonly heldUpMs?: (random: () => number) => number
  /** The interval at which the shared state is lost, as by a crash of the database. */
  readonly lostEachMs?: number
  readonly seed?: string
}

/** Simulates processes that share a pace and call a service, in virtual time. */
export async function simulateCalls(simulation: Simulation) {
  const { seconds, processes = 1, callers = 16, ceiling = 0, latencyMs = 50, retryAfterMs, limit } = simulation
  const { statementMs = () => 1, places } = simulation
  const clock = createFakeClock()
  const startedAt = clock.now()
  const random = createRandom(simulation.seed ?? 'calls').next
  const admits = serviceKinds[simulation.service](limit ?? Number.POSITIVE_INFINITY)
  const counts = Array.from({ length: seconds + 2 }, () => ({ answered: 0, refused: 0 }))
  const arrivals: number[] = []
  const answeredBy: number[] = []
  const { signal } = openContext()
  let exchanges = 0
  let free = 0
  const over = new AbortController()

  let row: { readonly pace: unknown } = { pace: null }
  /** Works like the database: a change that comes too late is made again, to what is stored by then. */
  const cellOf =
    (own: Clock): UpdatePace =>
    async (change) => {
      const half = async () => void (processes > 1 && (await own.sleep(statementMs(random) / 2)))
      await half()
      let stored = row
      await half()
      for (;;) {
        exchanges += 1
        const changed = change(stored.pace, clock.now())
        await half()
        const isInTime = row === stored
        if (isInTime) row = { pace: changed.pace }
        stored = row
        await half()
        if (isInTime) return changed
      }
    }
  const lose = async (lostEachMs: number): Promise<void> => {
    for (; !over.signal.aborted; row = { pace: null }) await clock.sleep(lostEachMs)
  }
  if (simulation.lostEachMs !== undefined) void lose(simulation.lostEachMs)
  for (let process = 0; process < processes; process += 1) {
    answeredBy.push(0)
    let resumesAtMs = 0
    const own: Clock = {
      now: clock.now,
      sleep: async (ms, stop) => {
        await clock.sleep(ms, stop)
        while (resumesAtMs > clock.now()) await clock.sleep(resumesAtMs - clock.now())
      },
    }
    const holdUp = async (heldUpMs: (random: () => number) => number): Promise<void> => {
      while (!over.signal.aborted) {
        await clock.sleep(500 + 1000 * random())
        resumesAtMs = clock.now() + heldUpMs(random)
        await clock.sleep(resumesAtMs - clock.now())
      }
    }
    if (simulation.heldUpMs) void holdUp(simulation.heldUpMs)
    const pace = createPace(cellOf(own), ceiling, own)
    const queue = places === undefined ? undefined : new PQueue({ concurrency: places })
    const through = (send: () => Promise<void>) => {
      const inner = pace.ceiling(send)
      return pace.endpointRate<Pick<Call, 'endpoint'>, void>(
        async (...call) => await (queue?.add(async () => await inner(...call)) ?? inner(...call)),
      )
    }
    const limited = through(async () => {
      await clock.sleep((latencyMs / 2) * (1 + random() / 10))
      arrivals.push(clock.now())
      const second = Math.floor((clock.now() - startedAt) / 1000)
      const isAnswered = !(simulation.refuses?.(second, random) ?? false) && admits(clock.now())
      const count = counts[second]
      if (count) count[isAnswered ? 'answered' : 'refused'] += 1
      if (isAnswered) answeredBy[process] = (answeredBy[process] ?? 0) + 1
      await own.sleep((latencyMs / 2) * (1 + random() / 10))
      if (!isAnswered) throw refusal(retryAfterMs)
    })
    const unlimited = through(async () => {
      await clock.sleep(latencyMs)
      free += 1
    })
    const repeat = async (send: () => Promise<void>): Promise<void> => {
      while (!over.signal.aborted) {
        await send().catch((error: unknown) => {
          if (!hasCode(error, 'api.rateLimited')) throw error
        })
      }
    }
    for (let caller = 0; caller < callers; caller += 1) {
      void repeat(() => limited({ endpoint: 'visitorList' }, { signal }))
      if (simulation.hasFreeEndpoint) void repeat(() => unlimited({ endpoint: 'managers' }, { signal }))
    }
  }
  await clock.advance(seconds * 1000)
  over.abort()

  const sum = (from: number, to: number, of: 'answered' | 'refused'): number =>
    counts.slice(from, to).reduce((total, count) => total + count[of], 0)
  /** Answered calls per second, from one second to another. */
  const answered = (from: number, to = seconds) => sum(from, to, 'answered') / (to - from)
  return {
    answered,
    /** The share of refused calls, from one second to another. */
    refused: (from: number, to = seconds) =>
      sum(from, to, 'refused') / (sum(from, to, 'refused') + sum(from, to, 'answered')),
    /** The first of three seconds that answer `perSecond` calls a second and refuse at most 3 % and one call. */
    secondsUntilFound: (perSecond: number) => {
      const isFound = (_count: unknown, at: number): boolean =>
        answered(at, at + 3) >= perSecond &&
        sum(at, at + 3, 'refused') <= 0.03 * (sum(at, at + 3, 'refused') + sum(at, at + 3, 'answered')) + 1
      const found = counts.slice(0, seconds - 2).findIndex(isFound)
      return found < 0 ? Number.POSITIVE_INFINITY : found
    },
    /** The times at which calls arrived. */
    arrivals,
    answeredBy,
    /** Calls per second to the endpoint without a limit. */
    free: free / seconds,
    /** Exchanges with the database per second, by all processes, counting each attempt. */
    exchanges: exchanges / seconds,
  }
}

/** The error for a 429. */
export function refusal(retryAfterMs?: number): LivehouseError<'api.rateLimited'> {
  return new LivehouseError('api.rateLimited', 'refused', { call: 'a call', ...(retryAfterMs && { retryAfterMs }) })
}

/** The most arrivals within any window of this length. */
export function mostWithin(arrivals: readonly number[], windowMs: number): number {
  const sorted = arrivals.toSorted((a, b) => a - b)
  let first = 0
  return sorted.reduce((most, at, index) => {
    while (at - (sorted[first] ?? at) >= windowMs) first += 1
    return Math.max(most, index - first + 1)
  }, 0)
}

import PQueue from 'p-queue'
import { hasCode, LivehouseError } from '../../src/core/errors.ts'
import { createPace } from '../../src/service/pace.ts'
import type { Call } from '../../src/service/send.ts'
import type { UpdatePace } from '../../src/core/shared-calls.ts'
import { createRandom } from '../../src/emulator/world/random.ts'
import type { Clock } from '../../src/core/clock.ts'
import { openContext } from './connect-client.ts'
import { createFakeClock } from './fake-clock.ts'

/** @returns whether the service takes a call at this instant */
type Admits = (nowMs: number) => boolean

/** Ways in which services count. */
const serviceKinds = {
  /** A bucket that holds one second's calls. */
  bucket: (limit: number): Admits => {
    let tokens = limit
    let filledAt: number | undefined
    return (now) => {
      tokens = Math.min(limit, tokens + ((now - (filledAt ?? now)) / 1000) * limit)
      filledAt = now
      if (tokens < 1) return false
      tokens -= 1
      return true
    }
  },
  /** So many in each second of its clock. */
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
  /** Calls a second; none without it. */
  readonly limit?: number
  /** Whether a call is refused whatever the limit; `second` is that of the simulation. */
  readonly refuses?: (second: number, random: () => number) => boolean
  readonly seconds: number
  readonly processes?: number
  /** Of each process, calling without a break. */
  readonly callers?: number
  /** Calls under way at once, of each process; without a bound when not given. */
  readonly places?: number
  /** As many again that call another endpoint, which has no limit. */
  readonly hasFreeEndpoint?: boolean
  readonly ceiling?: number
  readonly latencyMs?: number
  readonly retryAfterMs?: number
  /** What each of the two statements of an exchange takes; one process alone has none. */
  readonly statementMs?: (random: () => number) => number
  /** For how long each process is held up at a time; it goes on for half to one and a half seconds in between. */
  readonly heldUpMs?: (random: () => number) => number
  /** How often what is shared is lost, as by a crash of the database. */
  readonly lostEachMs?: number
  readonly seed?: string
}

/** Processes with a pace in common call a service in virtual time. */
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
  /** As the database: a late change is told what is kept by then. */
  const cellOf =
    (own: Clock): UpdatePace =>
    async (change) => {
      const half = async () => void (processes > 1 && (await own.sleep(statementMs(random) / 2)))
      await half()
      let kept = row
      await half()
      for (;;) {
        exchanges += 1
        const changed = change(kept.pace, clock.now())
        await half()
        const isTaken = row === kept
        if (isTaken) row = { pace: changed.pace }
        kept = row
        await half()
        if (isTaken) return changed
      }
    }
  const lose = async (lostEachMs: number): Promise<void> => {
    for (; !over.signal.aborted; row = { pace: null }) await clock.sleep(lostEachMs)
  }
  if (simulation.lostEachMs !== undefined) void lose(simulation.lostEachMs)
  for (let process = 0; process < processes; process += 1) {
    answeredBy.push(0)
    let goesOnAtMs = 0
    const own: Clock = {
      now: clock.now,
      sleep: async (ms, stop) => {
        await clock.sleep(ms, stop)
        while (goesOnAtMs > clock.now()) await clock.sleep(goesOnAtMs - clock.now())
      },
    }
    const holdUp = async (heldUpMs: (random: () => number) => number): Promise<void> => {
      while (!over.signal.aborted) {
        await clock.sleep(500 + 1000 * random())
        goesOnAtMs = clock.now() + heldUpMs(random)
        await clock.sleep(goesOnAtMs - clock.now())
      }
    }
    if (simulation.heldUpMs) void holdUp(simulation.heldUpMs)
    const pace = createPace(cellOf(own), ceiling, own)
    const inPlace = places === undefined ? undefined : new PQueue({ concurrency: places })
    const through = (send: () => Promise<void>) => {
      const inner = pace.inner(send)
      return pace.outer<Pick<Call, 'endpoint'>, void>(
        async (...call) => await (inPlace?.add(async () => await inner(...call)) ?? inner(...call)),
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
    const goOn = async (send: () => Promise<void>): Promise<void> => {
      while (!over.signal.aborted) {
        await send().catch((error: unknown) => {
          if (!hasCode(error, 'api.rateLimited')) throw error
        })
      }
    }
    for (let caller = 0; caller < callers; caller += 1) {
      void goOn(() => limited({ endpoint: 'visitorList' }, { signal }))
      if (simulation.hasFreeEndpoint) void goOn(() => unlimited({ endpoint: 'managers' }, { signal }))
    }
  }
  await clock.advance(seconds * 1000)
  over.abort()

  const sum = (from: number, to: number, of: 'answered' | 'refused'): number =>
    counts.slice(from, to).reduce((total, count) => total + count[of], 0)
  /** Calls a second that were answered from a second on, to another. */
  const answered = (from: number, to = seconds) => sum(from, to, 'answered') / (to - from)
  return {
    answered,
    /** Share of the calls of that time. */
    refused: (from: number, to = seconds) =>
      sum(from, to, 'refused') / (sum(from, to, 'refused') + sum(from, to, 'answered')),
    /** The first second of three in a row that answer so many and refuse no more than three of a hundred and one. */
    foundAfter: (perSecond: number) => {
      const isFound = (_count: unknown, at: number): boolean =>
        answered(at, at + 3) >= perSecond &&
        sum(at, at + 3, 'refused') <= 0.03 * (sum(at, at + 3, 'refused') + sum(at, at + 3, 'answered')) + 1
      const found = counts.slice(0, seconds - 2).findIndex(isFound)
      return found < 0 ? Number.POSITIVE_INFINITY : found
    },
    /** Instants at which calls arrived. */
    arrivals,
    answeredBy,
    /** Calls a second of the endpoint without a limit, all in all. */
    free: free / seconds,
    /** Exchanges with the cell a second, by all, each attempt counted. */
    exchanges: exchanges / seconds,
  }
}

/** What the client makes of a 429. */
export function refusal(retryAfterMs?: number): LivehouseError<'api.rateLimited'> {
  return new LivehouseError('api.rateLimited', 'refused', { call: 'a call', ...(retryAfterMs && { retryAfterMs }) })
}

/** The most arrivals within any such window. */
export function mostWithin(arrivals: readonly number[], windowMs: number): number {
  const sorted = arrivals.toSorted((a, b) => a - b)
  let first = 0
  return sorted.reduce((most, at, index) => {
    while (at - (sorted[first] ?? at) >= windowMs) first += 1
    return Math.max(most, index - first + 1)
  }, 0)
}

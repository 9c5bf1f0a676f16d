import { createMemoryPaceCell, type PaceCell } from '../../src/api/pace-cell.ts'
import { createPermits } from '../../src/api/permits.ts'
import { silentLog } from '../../src/core/log.ts'
import { createRandom } from '../../src/emulator/world/random.ts'
import { openContext } from './connect-client.ts'
import { createFakeClock } from './fake-clock.ts'

/** @returns whether the service takes a call at this instant */
export type Admits = (nowMs: number) => boolean

/** Ways in which services count; `limit` is asked each time. */
export const serviceKinds = {
  /** A bucket that holds one second's calls. */
  bucket: (limit: () => number): Admits => {
    let tokens = limit()
    let filledAt: number | undefined
    return (now) => {
      tokens = Math.min(limit(), tokens + ((now - (filledAt ?? now)) / 1000) * limit())
      filledAt = now
      if (tokens < 1) return false
      tokens -= 1
      return true
    }
  },
  /** So many in each second of its clock. */
  'fixed window': (limit: () => number): Admits => {
    let second = 0
    let count = 0
    return (now) => {
      const current = Math.floor((now - 370) / 1000)
      if (current !== second) count = 0
      second = current
      if (count >= limit()) return false
      count += 1
      return true
    }
  },
  /** So many in any second. */
  'sliding window': (limit: () => number): Admits => {
    let admitted: readonly number[] = []
    return (now) => {
      admitted = admitted.filter((at) => at > now - 1000)
      if (admitted.length >= limit()) return false
      admitted = [...admitted, now]
      return true
    }
  },
}

export interface Simulation {
  readonly service: keyof typeof serviceKinds
  /** Calls a second, by the second of the simulation. */
  readonly limit: (second: number) => number
  readonly seconds: number
  readonly processes?: number
  /** Of each process, calling without a break. */
  readonly callers?: number
  readonly ceiling?: number
  readonly latencyMs?: number
  readonly retryAfterMs?: number
}

export interface Simulated {
  /** Share of what could have been admitted from a second on, to another. */
  readonly used: (from: number, to?: number) => number
  /** Share of the calls of that time. */
  readonly refused: (from: number, to?: number) => number
  /** Seconds until three in a row use nine tenths of the limit, with no more refused than two of a hundred and one. */
  readonly settledAfter: (from?: number, to?: number) => number
  /** Instants at which calls arrived. */
  readonly arrivals: readonly number[]
  readonly admittedBy: readonly number[]
  /** Exchanges with the cell a second, by all. */
  readonly exchanges: number
}

const JITTER_MS = 5

/** Processes with a pace in common call a service that has a limit, in virtual time. */
export async function simulateCalls(simulation: Simulation): Promise<Simulated> {
  const { seconds, processes = 1, callers = 16, ceiling = 0, latencyMs = 50, retryAfterMs } = simulation
  const clock = createFakeClock()
  const startedAt = clock.now()
  const second = () => Math.floor((clock.now() - startedAt) / 1000)
  const random = createRandom('calls').next
  const admits = serviceKinds[simulation.service](() => simulation.limit(second()))
  const memory = createMemoryPaceCell(clock)
  const counts = Array.from({ length: seconds + 2 }, () => ({ admitted: 0, refused: 0 }))
  const arrivals: number[] = []
  const admittedBy: number[] = []
  const { signal } = openContext()
  let exchanges = 0
  const over = new AbortController()

  const cell: PaceCell = {
    now: memory.now,
    exchange: async (change) => {
      exchanges += 1
      // A database that answers within two milliseconds.
      if (processes > 1) await clock.sleep(1)
      const changed = await memory.exchange(change)
      if (processes > 1) await clock.sleep(1)
      return changed
    },
  }
  for (let process = 0; process < processes; process += 1) {
    admittedBy.push(0)
    const permits = createPermits({ maxCallsPerSecond: ceiling, cell, clock, log: silentLog, random })
    const call = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const permit = await permits.take(signal)
        await clock.sleep(latencyMs / 2 + random() * JITTER_MS)
        arrivals.push(clock.now())
        const isAdmitted = admits(clock.now())
        const count = counts[second()]
        if (count) count[isAdmitted ? 'admitted' : 'refused'] += 1
        if (isAdmitted) admittedBy[process] = (admittedBy[process] ?? 0) + 1
        await clock.sleep(latencyMs / 2 + random() * JITTER_MS)
        if (isAdmitted) permit.admitted()
        else permit.refused(retryAfterMs)
      }
    }
    for (let caller = 0; caller < callers; caller += 1) void call()
  }
  await clock.advance(seconds * 1000)
  over.abort()

  const sum = (from: number, to: number, of: (index: number) => number): number =>
    Array.from({ length: to - from }, (_each, index) => of(from + index)).reduce((total, each) => total + each, 0)
  const admittedIn = (from: number, to: number) => sum(from, to, (index) => counts[index]?.admitted ?? 0)
  const refusedIn = (from: number, to: number) => sum(from, to, (index) => counts[index]?.refused ?? 0)
  const isSettled = (index: number): boolean => {
    const { admitted = 0, refused = 0 } = counts[index] ?? {}
    return admitted >= 0.9 * simulation.limit(index) && refused <= 0.02 * (admitted + refused) + 1
  }
  const areSettled = (index: number) => [index, index + 1, index + 2].every(isSettled)
  return {
    settledAfter: (from = 0, to = seconds) => {
      const found = counts.findIndex((_each, index) => index >= from && index + 3 <= to && areSettled(index))
      return found < 0 ? Number.POSITIVE_INFINITY : found - from
    },
    used: (from, to = seconds) => admittedIn(from, to) / sum(from, to, simulation.limit),
    refused: (from, to = seconds) => refusedIn(from, to) / (admittedIn(from, to) + refusedIn(from, to)),
    arrivals,
    admittedBy,
    exchanges: exchanges / seconds,
  }
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

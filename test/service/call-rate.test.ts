import { describe, expect, test } from 'vitest'
import { type EndedCalls, estimateRateLimit, parseCallPace, rateAt } from '../../src/service/call-rate.ts'
import { simulateCalls } from '../helpers/simulate-calls.ts'

/** The calls a second that the processes can make, with 16 in flight each. */
const possibleRate = (limit: number, processes: number, latencyMs: number) =>
  Math.min(limit, (processes * 16 * 1000) / (1.1 * latencyMs))

describe.each(['bucket', 'fixed window'] as const)('a service with a hidden limit: %s', (service) => {
  test.each([
    [10, 1, 5],
    [100, 3, 100],
    [100, 3, 5],
    [1000, 1, 100],
  ])('its %d calls a second, %d processes, %d ms away, are found and used', async (limit, processes, latencyMs) => {
    const of = { limit, processes, latencyMs, seed: `${limit},${processes},${latencyMs}` }
    const run = await simulateCalls({ service, seconds: 20, ...of })
    const reachable = possibleRate(limit, processes, latencyMs)
    expect(run.secondsUntilFound(0.88 * reachable)).toBeLessThanOrEqual(10)
    expect(run.answered(10)).toBeGreaterThanOrEqual(0.88 * reachable)
    expect(run.refused(10)).toBeLessThanOrEqual(0.03)
    expect(run.exchanges).toBeLessThanOrEqual(10 * processes)
  })

  test.each([
    [16, 16],
    [10, 2],
  ])('it is used by eight processes far from their database, %d callers, %d calls at once each', async (...of) => {
    const [callers, places] = of
    const far = { processes: 8, latencyMs: 70, statementMs: () => 20, seed: of.join() }
    const run = await simulateCalls({ service, limit: 100, callers, places, seconds: 20, ...far })
    expect(run.secondsUntilFound(88)).toBeLessThanOrEqual(10)
    expect(run.answered(10)).toBeGreaterThanOrEqual(88)
    expect(run.refused(10)).toBeLessThanOrEqual(0.03)
  })
})

describe.each(['bucket', 'fixed window'] as const)('a limit that is exceeded by less than a fifth: %s', (service) => {
  /** A limit that 16 callers exceed by this factor. */
  const overLimit = (by: number) => ({ service, limit: 200, latencyMs: 16_000 / (200 * by) / 1.05, seconds: 40 })

  test.each([
    [1.05, 0],
    [1.155, 0],
    [1.05, 0.05],
    [1.155, 0.05],
  ])('a limit exceeded by the factor %d is found, although a share of %d is refused at random', async (by, share) => {
    const refuses = (_second: number, random: () => number) => random() < share
    const run = await simulateCalls({ ...overLimit(by), refuses, seed: `${by}` })
    expect(share > 0 || run.secondsUntilFound(0.88 * 200) <= 10).toBe(true)
    expect(run.answered(15)).toBeGreaterThanOrEqual((0.88 - share) * 200)
    expect(run.refused(15)).toBeLessThanOrEqual(0.03 + share)
  })

  test('the limit is found while calls that passed their gate earlier wait for the ceiling', async () => {
    const run = await simulateCalls({ service, limit: 85, ceiling: 100, callers: 64, latencyMs: 20, seconds: 30 })
    expect(run.answered(15)).toBeGreaterThanOrEqual(0.88 * 85)
    expect(run.refused(15)).toBeLessThanOrEqual(0.03)
  })
})

test('a limit that is exceeded by a tenth is found after a period of random refusals', async () => {
  const refuses = (second: number, random: () => number) => second < 15 && random() < 0.15
  const run = await simulateCalls({ service: 'bucket', limit: 200, latencyMs: 69, refuses, seconds: 40, seed: 's0' })
  expect(run.answered(30)).toBeGreaterThanOrEqual(0.88 * 200)
  expect(run.refused(30)).toBeLessThanOrEqual(0.03)
})

test.each([
  ['bucket', 40, 1, 's0'],
  ['bucket', 60, 2, 's4'],
  ['fixed window', 60, 2, 's5'],
] as const)('a %s of %d is used by %d processes that are held up over a third of the time', async (...of) => {
  const [service, limit, processes, seed] = of
  const heldUpMs = (random: () => number) => 200 + 800 * random()
  const run = await simulateCalls({ service, limit, processes, latencyMs: 20, seconds: 40, heldUpMs, seed })
  expect(run.answered(10)).toBeGreaterThanOrEqual(0.56 * limit)
})

test.each([
  [0.01, 0.9],
  [0.05, 0.85],
  [0.1, 0.75],
])('if a share of %d is refused at random, at least %d of the ceiling is used', async (share, wanted) => {
  const refuses = (_second: number, random: () => number) => random() < share
  const run = await simulateCalls({ service: 'bucket', refuses, ceiling: 20, seconds: 600 })
  expect(run.answered(0)).toBeGreaterThanOrEqual(wanted * 20)
})

test.each([0, 20])('a minute of refusals costs few calls and five seconds, with a ceiling of %d', async (ceiling) => {
  const refuses = (second: number) => second >= 10 && second < 70
  const run = await simulateCalls({ service: 'bucket', ceiling, refuses, seconds: 90 })
  expect(run.answered(74, 76)).toBeGreaterThan(0.9 * run.answered(3, 10))
  expect(run.answered(75)).toBeGreaterThan(0.9 * run.answered(3, 10))
  // One call a second finds out when the refusals end.
  const others = run.arrivals.length - 10 * run.answered(0, 10) - 20 * run.answered(70, 90)
  expect(others).toBeLessThan(60 + 4 * run.answered(3, 10))
})

const slowLimits = [0.3, 1.5].flatMap((limit) => [1, 3].map((processes) => ({ limit, processes })))
test.each(slowLimits)('$limit calls a second are used by $processes processes; few are refused', async (of) => {
  const run = await simulateCalls({ service: 'bucket', ...of, ceiling: 20, seconds: 120 })
  expect(run.answered(10)).toBeGreaterThanOrEqual(0.83 * of.limit)
  expect(run.arrivals.length).toBeLessThan(120 * Math.max(1, 1.2 * of.limit) + 6 * 20)
})

test('a limit that has been lifted is forgotten within minutes', async () => {
  let calls = { second: 0, count: 0 }
  const refuses = (second: number) => {
    calls = { second, count: second === calls.second ? calls.count + 1 : 1 }
    return second < 10 && calls.count > 40
  }
  const run = await simulateCalls({ service: 'bucket', refuses, seconds: 210 })
  expect(run.answered(10, 110)).toBeLessThanOrEqual(40)
  expect(run.answered(205)).toBeGreaterThanOrEqual(0.9 * possibleRate(Number.POSITIVE_INFINITY, 1, 50))
})

test.each([1, 3])('a limit of one endpoint leaves the rate of another untouched, %d processes', async (processes) => {
  const run = await simulateCalls({ service: 'bucket', limit: 10, processes, seconds: 20, hasFreeEndpoint: true })
  expect(run.answered(10)).toBeGreaterThanOrEqual(8.8)
  // What 16 callers a process can make, 50 ms away.
  expect(run.free).toBeGreaterThanOrEqual(0.9 * processes * 320)
})

test.each([
  [10, 3],
  [40, 1],
  [200, 1],
])('a limit of %d calls a second with Retry-After is used, %d processes; few are refused', async (limit, processes) => {
  const simulation = { service: 'fixed window', limit, processes, retryAfterMs: 1000, seconds: 30 } as const
  const run = await simulateCalls(simulation)
  expect(run.answered(10)).toBeGreaterThanOrEqual(0.7 * limit)
  expect(run.refused(10)).toBeLessThanOrEqual(0.1)
})

/** The rate of an endpoint two seconds after these calls ended. */
const rateAfter = (calls: readonly EndedCalls[]) => {
  let rateLimit: ReturnType<typeof estimateRateLimit> | undefined
  for (const each of calls) rateLimit = estimateRateLimit(rateLimit, [each], each.atMs)
  const nowMs = (calls.at(-1)?.atMs ?? 0) + 2000
  return rateAt(estimateRateLimit(rateLimit, [], nowMs), nowMs)
}

test.each<[string, number, readonly EndedCalls[]]>([
  ['in two seconds', 8, [1000, 2000].map((atMs) => ({ atMs, calls: 16, refused: 8 }))],
  ['in two, one of them held up', 8, [1000, 2000, 3000].map((atMs) => ({ atMs, calls: 8 + atMs / 250, refused: 8 }))],
  ['a lone refusal', Infinity, [{ atMs: 1000, calls: 1, refused: 1 }]],
  ['in few calls', Infinity, [1000, 2000].map((atMs) => ({ atMs, calls: 2, refused: 1 }))],
  ['of one pause, in two', Infinity, [47, 10].map((calls, at) => ({ atMs: 1000 + 1000 * at, calls, refused: 8 }))],
])('only refusals that are evidence of a limit lower the rate: %s', (_, rate, calls) => {
  expect(Math.ceil(rateAfter(calls))).toBe(rate)
})

test('a pace that is more than ten minutes old, or in the form of another version, is discarded', () => {
  const gates = { visitorList: estimateRateLimit(undefined, [], 1_000_000) }
  const pace = { begunMs: 900_000, atMs: 1_000_000, pausedUntilMs: 0, gates }
  expect(parseCallPace(pace, 1_599_000)).toEqual(pace)
  expect(parseCallPace(pace, 1_600_000).gates).toEqual({})
  const visitorList = { nextAtMs: 0, limit: 8, limitedAtMs: 0, isClosed: false, seconds: [] }
  expect(parseCallPace({ ...pace, gates: { visitorList } }, 1_000_000).gates).toEqual({})
})

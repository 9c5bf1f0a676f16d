import { describe, expect, test } from 'vitest'
import { type GatePace, learn, parseCallPace } from '../../src/service/call-rate.ts'
import { simulateCalls } from '../helpers/simulate-calls.ts'

const unlimited: GatePace = { nextAtMs: 0, limitedAtMs: 0, isClosed: false, judgedAt: 0, seconds: [] }

/** What one process can make with 16 calls at once. */
const possible = (limit: number, processes: number, latencyMs: number) =>
  Math.min(limit, (processes * 16 * 1000) / (1.1 * latencyMs))

describe.each(['bucket', 'fixed window'] as const)('a service with a hidden limit: %s', (service) => {
  const cases = [10, 40, 100, 200, 1000].flatMap((limit) =>
    [1, 3].flatMap((processes) => [5, 100].map((latencyMs) => [limit, processes, latencyMs] as const)),
  )
  test.each(cases)('of %d calls a second, %d processes, %d ms away, is found and used', async (...of) => {
    const [limit, processes, latencyMs] = of
    const run = await simulateCalls({ service, limit, processes, latencyMs, seconds: 20, seed: of.join() })
    expect(run.foundAfter(0.88 * possible(...of))).toBeLessThanOrEqual(10)
    expect(run.answered(10)).toBeGreaterThanOrEqual(0.88 * possible(...of))
    expect(run.refused(10)).toBeLessThanOrEqual(0.03)
  })

  test.each([10, 40])(
    'of %d calls a second is found again when the rate rises to it after two minutes',
    async (limit) => {
      const run = await simulateCalls({ service, limit, seconds: 270 })
      expect(run.refused(10)).toBeLessThanOrEqual(0.03)
      expect(run.answered(10)).toBeGreaterThanOrEqual(0.88 * limit)
      // It has risen: it would have noticed a service that takes more.
      expect(run.refused(120, 140)).toBeGreaterThan(0)
    },
  )
})

test.each([
  [0.01, 0.9],
  [0.05, 0.85],
  [0.1, 0.75],
])(
  'where %d of all calls are refused at random, the rate of the rest is at least %d of the ceiling',
  async (share, wanted) => {
    const refuses = (_second: number, random: () => number) => random() < share
    const run = await simulateCalls({ service: 'bucket', refuses, ceiling: 20, seconds: 1800 })
    expect(run.answered(0)).toBeGreaterThanOrEqual(wanted * 20)
  },
)

test.each([0, 20])('a first answer that is a refusal changes nothing, ceiling %d', async (ceiling) => {
  let calls = 0
  const refuses = () => (calls += 1) === 1
  const usual = await simulateCalls({ service: 'bucket', ceiling, seconds: 10 })
  const run = await simulateCalls({ service: 'bucket', ceiling, refuses, seconds: 10 })
  expect(run.answered(1)).toBeGreaterThan(0.9 * usual.answered(1))
})

test.each([0, 20])(
  'a minute of refusals costs few calls, and five seconds later all is as before, ceiling %d',
  async (ceiling) => {
    const refuses = (second: number) => second >= 10 && second < 70
    const run = await simulateCalls({ service: 'bucket', ceiling, refuses, seconds: 90 })
    expect(run.answered(74, 76)).toBeGreaterThan(0.9 * run.answered(3, 10))
    expect(run.answered(75)).toBeGreaterThan(0.9 * run.answered(3, 10))
    // One call a second finds out when it ends.
    expect(run.arrivals.length - 10 * run.answered(0, 10) - 20 * run.answered(70, 90)).toBeLessThan(
      60 + 4 * run.answered(3, 10),
    )
  },
)

test('a limit that is gone is forgotten within ten minutes', async () => {
  const limited = (second: number, random: () => number) => second < 10 && random() < 0.9
  const run = await simulateCalls({ service: 'bucket', refuses: limited, callers: 2, seconds: 600 })
  expect(run.answered(10, 100)).toBeLessThan(0.3 * run.answered(590))
  expect(run.answered(590)).toBeGreaterThan(0.9 * (2000 / 52.5))
})

test.each([1, 3])('a limit of one endpoint leaves the rate of another untouched, %d processes', async (processes) => {
  const simulation = { service: 'bucket', limit: 10, processes, seconds: 20 } as const
  const run = await simulateCalls({ ...simulation, hasFreeEndpoint: true })
  expect(run.answered(10)).toBeGreaterThanOrEqual(8.8)
  // What 16 callers of each process make 50 ms away.
  expect(run.free).toBeGreaterThanOrEqual(0.9 * processes * 320)
})

test.each([
  [10, 3],
  [40, 1],
  [200, 1],
])(
  'a hidden limit of %d calls a second with Retry-After, %d processes, is used and refuses less than a tenth',
  async (limit, processes) => {
    const simulation = { service: 'fixed window', limit, processes, retryAfterMs: 1000, seconds: 30 } as const
    const run = await simulateCalls(simulation)
    expect(run.answered(10)).toBeGreaterThanOrEqual(0.7 * limit)
    expect(run.refused(10)).toBeLessThanOrEqual(0.1)
  },
)

test('random refusals with Retry-After cost no more than their pauses', async () => {
  const refuses = (_second: number, random: () => number) => random() < 0.01
  const run = await simulateCalls({ service: 'bucket', refuses, ceiling: 20, retryAfterMs: 1000, seconds: 900 })
  // A hundred calls take 5.25 s, and then there is a second of rest.
  expect(run.answered(600)).toBeGreaterThanOrEqual((0.95 * 99) / 6.25)
})

test.each([
  [1, 6],
  [61, 6],
  [300, undefined],
])('two seconds that lose half of their calls, %d seconds apart, make a limit of %s', (apart, limit) => {
  const policed = (at: number) => ({ at, answered: 6, refused: 6, paused: 0 })
  const first = learn(undefined, [policed(1000)], 1_002_000)
  expect(first).toMatchObject({ policed: 6 })
  const second = learn(first, [policed(1000 + apart)], (1002 + apart) * 1000)
  expect(second.limit).toBe(limit)
  // Of two in a row, the later one may be the first.
  expect(learn(second, [policed(1001 + apart)], (1003 + apart) * 1000).limit).toBe(6)
})

test('what was found is without effect after ten minutes without a call', () => {
  const pace = { atMs: 0, pausedUntilMs: 0, gates: { visitorList: { ...unlimited, limit: 3 } } }
  expect(parseCallPace(pace, 599_000)).toEqual(pace)
  expect(parseCallPace(pace, 601_000).gates).toEqual({})
})

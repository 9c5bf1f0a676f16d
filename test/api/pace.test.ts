import { describe, expect, test } from 'vitest'
import { createFairQueue } from '../../src/api/fair-queue.ts'
import { pace } from '../../src/api/pace.ts'
import { createPermits, type Permit, type Permits } from '../../src/api/permits.ts'
import type { Answer, Call, Send } from '../../src/api/send.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { silentLog } from '../../src/core/log.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'

const answer: Answer = { json: [], serviceTimeMs: undefined }
const freely: Permits = { take: async () => ({ admitted: () => {}, refused: () => {} }) }
const callOf = (channelId: string): Call => ({
  endpoint: 'visitorList',
  name: `POST visitorList channel ${channelId}`,
  method: 'POST',
  host: 'base',
  path: '/',
  channelId,
  authorization: 'bearer',
  repeat: 'read',
})

/** A service whose answers the test releases one by one. */
function createGate() {
  const started: string[] = []
  const waiting: (() => void)[] = []
  const next: Send = async (call) => {
    started.push(call.channelId ?? '')
    await new Promise<void>((resolve) => waiting.push(resolve))
    return answer
  }
  const release = async () => {
    waiting.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { next, started, release }
}

describe('concurrency', () => {
  test('no more calls at once than the ceiling', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 3, permits: freely })
    const calls = Array.from({ length: 10 }, (_call, i) => send(callOf(String(i)), openContext()))
    await release()
    expect(started).toHaveLength(3)
    await release()
    expect(started).toHaveLength(4)
    for (let i = 0; i < 10; i += 1) await release()
    await Promise.all(calls)
  })

  test('a channel with one call is not behind the hundred of another', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 1, permits: freely })
    const calls = [...Array.from({ length: 100 }, () => 'big'), 'small', 'other'].map((id) =>
      send(callOf(id), openContext()),
    )
    for (let i = 0; i < 103; i += 1) await release()
    await Promise.all(calls)
    expect(started.indexOf('small')).toBeLessThan(4)
    expect(started.indexOf('other')).toBeLessThan(5)
    expect(started).toHaveLength(102)
  })

  test('a call that is given up while it waits never goes out and holds no place', async () => {
    const { next, started, release } = createGate()
    const send = pace(next, { concurrency: 1, permits: freely })
    const controller = new AbortController()
    const first = send(callOf('a'), openContext())
    const given = errorOf(send(callOf('b'), { signal: controller.signal }))
    const last = send(callOf('c'), openContext())
    controller.abort(new Error('gave up'))
    expect(String(await given)).toBe('Error: gave up')
    await release()
    await release()
    await release()
    await Promise.all([first, last])
    expect(started).toEqual(['a', 'c'])
  })
})

test('the fair queue takes the groups in turn and keeps the order within each', () => {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item.charAt(0), item)
  const drop = queue.add('c', 'c2')
  expect([queue.take(), queue.take()]).toEqual(['a1', 'b1'])
  drop()
  drop()
  expect([queue.take(), queue.take(), queue.take(), queue.take(), queue.take()]).toEqual([
    'c1',
    'a2',
    'b2',
    'a3',
    undefined,
  ])
})

/** A service that admits `limit` calls in each second, asked by `callers` at once for `seconds`. */
async function load({ limit, max, seconds, latencyMs = 50, callers = 16 }: LoadOptions) {
  const clock = createFakeClock()
  const permits = createPermits({ maxCallsPerSecond: max, clock, log: silentLog })
  const startedAt = clock.now()
  const departures: number[] = []
  const admitted = new Map<number, number>()
  const refused = new Map<number, number>()
  const next: Send = async (call) => {
    const second = Math.floor((clock.now() - startedAt) / 1000)
    departures.push(clock.now())
    await clock.sleep(latencyMs)
    const count = admitted.get(second) ?? 0
    if (count >= limit) {
      refused.set(second, (refused.get(second) ?? 0) + 1)
      throw new LivehouseError('api.rateLimited', '429', { call: call.name })
    }
    admitted.set(second, count + 1)
    return answer
  }
  const send = pace(next, { concurrency: callers, permits })
  const controller = new AbortController()
  const caller = async () => {
    while (!controller.signal.aborted) await send(callOf('9'), { signal: controller.signal }).catch(() => {})
  }
  const all = Promise.all(Array.from({ length: callers }, caller))
  await clock.advance(seconds * 1000)
  controller.abort()
  await clock.advance(latencyMs)
  await all
  const total = (counts: Map<number, number>, from: number) =>
    [...counts].filter(([second]) => second >= from && second < seconds).reduce((sum, [, count]) => sum + count, 0)
  return {
    departures,
    admitted: (from: number) => total(admitted, from),
    refused: (from: number) => total(refused, from),
  }
}

interface LoadOptions {
  readonly limit: number
  readonly max: number
  readonly seconds: number
  readonly latencyMs?: number
  readonly callers?: number
}

function mostWithin(departures: readonly number[], windowMs: number): number {
  return Math.max(...departures.map((from) => departures.filter((at) => at >= from && at < from + windowMs).length))
}

describe('rate', () => {
  test.each([1, 7, 25])('never more than %d calls in any second', async (max) => {
    const { departures } = await load({ limit: 1000, max, seconds: 10 })
    expect(mostWithin(departures, 1000)).toBeLessThanOrEqual(max)
    expect(departures.length).toBeGreaterThan(10 * max * 0.9)
  })

  test('a ceiling below one call a second holds too', async () => {
    const { departures } = await load({ limit: 1000, max: 0.5, seconds: 20 })
    expect(mostWithin(departures, 2000)).toBe(1)
    expect(departures.length).toBeGreaterThanOrEqual(9)
  })

  test('without a ceiling only concurrency and latency limit', async () => {
    const { departures } = await load({ limit: 100_000, max: 0, seconds: 2, latencyMs: 10 })
    expect(departures.length).toBeGreaterThan(16 * 100 * 2 * 0.9)
  })

  test.each([
    [10, 0],
    [10, 20],
    [3, 20],
    [40, 100],
  ])('a service that admits %d a second is found below the ceiling of %d, and used well', async (limit, max) => {
    const { admitted, refused } = await load({ limit, max, seconds: 60 })
    expect(admitted(10)).toBeGreaterThan(limit * 50 * 0.8)
    expect(refused(10)).toBeLessThan(limit * 50 * 0.08)
  })
})

describe('refusals', () => {
  const setUp = () => {
    const clock = createFakeClock()
    return { clock, permits: createPermits({ maxCallsPerSecond: 100, clock, log: silentLog }), ...openContext() }
  }

  test('a Retry-After holds every call back, up to a minute', async () => {
    const { clock, permits, signal } = setUp()
    const permit = await permits.take(signal)
    permit.refused(5000)
    let wentAt = 0
    const go = async () => {
      await permits.take(signal)
      wentAt = clock.now()
    }
    const second = go()
    const before = clock.now()
    await clock.advance(4900)
    expect(wentAt).toBe(0)
    await clock.advance(200)
    await second
    expect(wentAt).toBeGreaterThanOrEqual(before + 5000)
  })

  test('late refusals of calls that left before the rate dropped do not drop it again', async () => {
    const { clock, permits, signal } = setUp()
    const taken: Permit[] = []
    for (let i = 0; i < 8; i += 1) {
      const next = permits.take(signal)
      await clock.advance(20)
      taken.push(await next)
    }
    for (const permit of taken.slice(0, 4)) permit.admitted()
    taken[4]?.refused(undefined)
    await clock.advance(3000)
    for (const permit of taken.slice(5)) permit.refused(undefined)
    let departures = 0
    const controller = new AbortController()
    const leave = async () => {
      for (;;) {
        await permits.take(controller.signal)
        departures += 1
      }
    }
    const leaving = errorOf(leave())
    await clock.advance(5000)
    controller.abort()
    await leaving
    expect(departures).toBeGreaterThanOrEqual(20)
    expect(departures).toBeLessThanOrEqual(22)
  })

  test('a caller that gives up in the queue does not stop those behind it', async () => {
    const { clock, permits, signal } = setUp()
    ;(await permits.take(signal)).refused(1000)
    const controller = new AbortController()
    const gone = errorOf(permits.take(controller.signal))
    const stays = permits.take(signal)
    await clock.advance(10)
    controller.abort(new Error('gave up'))
    expect(String(await gone)).toBe('Error: gave up')
    await clock.advance(2000)
    await expect(stays).resolves.toBeDefined()
  })
})

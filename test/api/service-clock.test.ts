import { expect, test } from 'vitest'
import { createServiceClock } from '../../src/api/service-clock.ts'

const { signal } = new AbortController()
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** A machine whose clock is moved by hand, and a service `skewMs` ahead of what that clock showed at the start. */
function setup({ skewMs = 0, hasDate = true } = {}) {
  const machine = { nowMs: 1_000_000_000, jumpedMs: 0 }
  const asked: number[] = []
  const serviceMs = () => machine.nowMs - machine.jumpedMs + skewMs
  const clock = { now: () => machine.nowMs, sleep: async () => {} }
  const service = createServiceClock(clock, async () => {
    asked.push(machine.nowMs)
    return hasDate ? serviceMs() : undefined
  })
  const jump = (ms: number) => {
    machine.nowMs += ms
    machine.jumpedMs += ms
  }
  return { machine, asked, service, serviceMs, jump }
}

test('the service is asked once, and its clock is carried on for a minute', async () => {
  const { machine, asked, service, serviceMs } = setup({ skewMs: -7 * MINUTE_MS })
  expect(await service.now(signal)).toBe(serviceMs())
  machine.nowMs += MINUTE_MS - 1
  expect(await service.now(signal)).toBe(serviceMs())
  expect(asked).toHaveLength(1)
  machine.nowMs += 1
  expect(await service.now(signal)).toBe(serviceMs())
  expect(asked).toHaveLength(2)
})

test('an answer to another call tells it as well', async () => {
  const { asked, service, serviceMs } = setup({ skewMs: DAY_MS })
  service.observe(serviceMs())
  expect(await service.now(signal)).toBe(serviceMs())
  expect(asked).toEqual([])
})

test.each([
  ['a day ahead', DAY_MS],
  ['a day back', -DAY_MS],
])('a clock that jumps %s deceives nobody: the service is asked again', async (_case, ms) => {
  const { asked, service, serviceMs, jump } = setup()
  await service.now(signal)
  jump(ms)
  expect(await service.now(signal)).toBe(serviceMs())
  expect(asked).toHaveLength(2)
})

test("without a Date header it is this machine's clock", async () => {
  const { machine, asked, service, serviceMs } = setup({ skewMs: DAY_MS, hasDate: false })
  service.observe(serviceMs())
  service.observe(undefined)
  expect(await service.now(signal)).toBe(serviceMs())
  machine.nowMs += 2 * MINUTE_MS
  expect(await service.now(signal)).toBe(machine.nowMs)
  expect(asked).toHaveLength(1)
})

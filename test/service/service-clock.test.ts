import { expect, test } from 'vitest'
import type { RawAnswer } from '../../src/service/http.ts'
import { createServiceClock } from '../../src/service/service-clock.ts'

const { signal } = new AbortController()
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** A machine whose clock is moved by hand, and a service `skewMs` ahead of what that clock showed at the start. */
function setup({ skewMs = 0, hasDate = true, isSteady = false } = {}) {
  const machine = { nowMs: 1_000_000_000_000, elapsedMs: 7, ageSeconds: 0, tripMs: 0 }
  let asked = 0
  const pass = (ms: number) => {
    machine.nowMs += ms
    machine.elapsedMs += ms
  }
  const serviceMs = () => 1_000_000_000_000 + machine.elapsedMs - 7 + skewMs
  const clock = {
    now: () => machine.nowMs,
    sleep: async () => {},
    ...(isSteady && { monotonicMs: () => machine.elapsedMs }),
  }
  const exchange = async (): Promise<RawAnswer> => {
    asked += 1
    pass(machine.tripMs)
    const date = hasDate ? new Date(serviceMs() - machine.ageSeconds * 1000).toUTCString() : undefined
    pass(machine.tripMs)
    const headers = machine.ageSeconds > 0 ? { age: String(machine.ageSeconds) } : {}
    const answer = { status: 200, contentType: '', text: '', retryAfter: undefined, location: undefined }
    return { ...answer, date, headers }
  }
  const call = { name: 'GET /', method: 'GET', host: 'base', path: '' } as const
  const made = createServiceClock(clock, exchange, async (timed) => await timed(call, { signal }))
  const jump = (ms: number) => void (machine.nowMs += ms)
  return { machine, pass, jump, asked: () => asked, service: made.serviceClock, timed: made.timed, call, serviceMs }
}

test('the service is asked once, and its clock is carried on for a minute', async () => {
  const { pass, asked, service, serviceMs } = setup({ skewMs: -7 * MINUTE_MS })
  expect(service.ownAheadMs()).toBeUndefined()
  await service.refresh(signal)
  expect(service.now()).toBe(serviceMs())
  expect(service.ownAheadMs()).toBe(7 * MINUTE_MS)
  pass(MINUTE_MS - 1)
  await service.refresh(signal)
  expect(service.now()).toBe(serviceMs())
  expect(asked()).toBe(1)
  pass(1)
  await service.refresh(signal)
  expect(asked()).toBe(2)
})

test('an answer to another call tells it as well, but for those of the address of authorization', async () => {
  const { asked, service, serviceMs, timed, call } = setup({ skewMs: DAY_MS })
  await timed({ ...call, host: 'auth' }, { signal })
  expect(service.ownAheadMs()).toBeUndefined()
  await timed(call, { signal })
  await service.refresh(signal)
  expect(service.now()).toBe(serviceMs())
  expect(asked()).toBe(2)
})

test('a clock that the answers agree with is followed to the millisecond, however long they were under way', async () => {
  const { machine, pass, service, timed, call } = setup()
  for (const tripMs of [0, 15_000, 3, 300]) {
    machine.tripMs = tripMs
    pass(1234)
    await timed(call, { signal })
    expect(service.now()).toBe(machine.nowMs)
  }
})

test('of an answer from a cache the time counts at which it was served', async () => {
  const { machine, service, timed, call, serviceMs } = setup({ skewMs: DAY_MS })
  machine.ageSeconds = 3600
  await timed(call, { signal })
  expect(service.now()).toBe(serviceMs())
})

test.each([
  ['a day ahead', DAY_MS],
  ['a day back', -DAY_MS],
])('a clock that jumps %s deceives nobody, and the service is asked again', async (_case, ms) => {
  for (const isSteady of [true, false]) {
    const { asked, service, serviceMs, jump } = setup({ isSteady })
    await service.refresh(signal)
    jump(ms)
    expect(service.now()).toBe(serviceMs() + (isSteady ? 0 : ms))
    await service.refresh(signal)
    expect(Math.abs(service.now() - serviceMs())).toBeLessThanOrEqual(1000)
    expect(asked()).toBe(2)
  }
})

test("without a Date header it is this machine's clock", async () => {
  const { machine, service, jump } = setup({ skewMs: DAY_MS, hasDate: false })
  await service.refresh(signal)
  jump(DAY_MS)
  expect(service.now()).toBe(machine.nowMs)
  expect(service.ownAheadMs()).toBeUndefined()
})

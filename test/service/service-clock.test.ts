import { expect, test } from 'vitest'
import type { Http, RawAnswer } from '../../src/service/http.ts'
import { createServiceClock } from '../../src/service/service-clock.ts'

const { signal } = new AbortController()
const DAY_MS = 86_400_000

/** A machine whose clock the test sets, and a service with a clock of its own. */
function setup(isSteady: boolean, date?: string) {
  const machine = { nowMs: 1_000_000_000_000, elapsedMs: 7 }
  let count = 0
  const serviceMs = () => 1_000_000_000_000 + machine.elapsedMs - 7
  const clock = {
    now: () => machine.nowMs,
    sleep: async () => {},
    ...(isSteady && { monotonicMs: () => machine.elapsedMs }),
  }
  const exchange = async (): Promise<RawAnswer> => {
    count += 1
    return { status: 200, text: '', headers: { date: date ?? new Date(serviceMs()).toUTCString() } }
  }
  const call = { name: 'GET /', method: 'GET', host: 'base', path: '' } as const
  const request = async (timed: Http['exchange']) => await timed(call, { signal })
  const { serviceClock } = createServiceClock(clock, exchange, request, async () => {})
  return { jump: (ms: number) => void (machine.nowMs += ms), count: () => count, service: serviceClock, serviceMs }
}

test.each([
  ['a day ahead', DAY_MS],
  ['a day back', -DAY_MS],
])("after the machine's clock jumps %s, the service is asked for its time again", async (_case, ms) => {
  for (const isSteady of [true, false]) {
    const { count, service, serviceMs, jump } = setup(isSteady)
    await service.refresh(signal)
    jump(ms)
    expect(service.now()).toBe(serviceMs() + (isSteady ? 0 : ms))
    await service.refresh(signal)
    expect(Math.abs(service.now() - serviceMs())).toBeLessThanOrEqual(1000)
    expect(count()).toBe(2)
  }
})

test('a `Date`, which has whole seconds, does not set back a clock that is right', async () => {
  const { service, serviceMs, jump } = setup(true)
  jump(900)
  await service.refresh(signal)
  expect(service.now() - serviceMs()).toBe(900)
})

test.each(['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', 'Sat, 13 Sep 275760 00:00:00 GMT'])(
  'a `Date` that no clock can have is ignored: %s',
  async (date) => {
    const { service } = setup(true, date)
    await service.refresh(signal)
    expect(service.ownAheadMs()).toBeUndefined()
  },
)

import { expect, test } from 'vitest'
import type { RawAnswer } from '../../src/service/http.ts'
import { createServiceClock } from '../../src/service/service-clock.ts'

const { signal } = new AbortController()
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
    const age = machine.ageSeconds > 0 ? String(machine.ageSeconds) : undefined
    return { status: 200, text: '', headers: { date, age } }
  }
  const call = { name: 'GET /', method: 'GET', host: 'base', path: '' } as const
  const made = createServiceClock(clock, exchange, async (timed) => await timed(call, { signal }))
  const jump = (ms: number) => void (machine.nowMs += ms)
  return { machine, pass, jump, asked: () => asked, service: made.serviceClock, timed: made.timed, call, serviceMs }
}

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

import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'

const VISITORS = '/v2/activities/:channel/visitorList'

describe('how long an answer takes', () => {
  test('the latency, and as much more or less as the jitter allows, differently for each call', async () => {
    const clock = createFakeClock({ isAutomatic: true })
    await using service = await startEmulatedService({ clock, latencyMs: 80, jitterMs: 30 })
    for (let call = 0; call < 40; call += 1) await service.call('GET', '/v1/account/managers')
    expect(new Set(clock.waits).size).toBe(40)
    expect(Math.min(...clock.waits)).toBeGreaterThanOrEqual(50)
    expect(Math.min(...clock.waits)).toBeLessThan(60)
    expect(Math.max(...clock.waits)).toBeLessThanOrEqual(110)
    expect(Math.max(...clock.waits)).toBeGreaterThan(100)
  })

  test('never less than nothing', async () => {
    const clock = createFakeClock({ isAutomatic: true })
    await using service = await startEmulatedService({ clock, latencyMs: 1, jitterMs: 30 })
    for (let call = 0; call < 10; call += 1) await service.call('GET', '/v1/account/managers')
    expect(Math.min(0, ...clock.waits)).toBe(0)
  })

  test('grows with the number of the page where that is what it is told', async () => {
    const clock = createFakeClock({ isAutomatic: true })
    await using service = await startEmulatedService({ clock, deepPageMs: 2 })
    for (const p of [1, 2, 31]) await service.call('POST', VISITORS, { p, perPage: 10 })
    await service.call('POST', '/v1/activities/:channel/saveMenu', {})
    expect(clock.waits).toEqual([2, 60])
  })
})

import { describe, expect, test } from 'vitest'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'

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

const V1 = '/v1/activities/:channel/userRecords'

describe('the ten calls a day of 4.6', () => {
  test('wrong ones count, the eleventh is refused, and the next day of the service begins at its midnight', async () => {
    const clock = createFakeClock({ startMs: Date.parse('2026-11-20T23:50:00+08:00') })
    await using service = await startEmulatedService({ clock })
    await service.call('POST', V1, { p: 'wrong' })
    for (let call = 2; call <= 10; call += 1) expect((await service.call('POST', V1, {})).status).toBe(200)
    const refused = { status: 429, json: { errors: { code: 429001, message: 'Touch rate limit' } } }
    expect(await service.call('POST', V1, {})).toMatchObject(refused)
    await clock.advance(599_000)
    expect(await service.call('POST', V1, {})).toMatchObject(refused)
    await clock.advance(1000)
    expect((await service.call('POST', V1, {})).status).toBe(200)
  })

  test('belong to the account or to the channel by switch', async () => {
    await using service = await startEmulatedService()
    const other = V1.replace(':channel', service.emulator.channelIds[1] ?? '')
    for (let call = 1; call <= 10; call += 1) await service.call('POST', V1, {})
    expect((await service.call('POST', other, {})).status).toBe(429)
    service.emulator.switches.v1BudgetScope = 'channel'
    expect((await service.call('POST', other, {})).status).toBe(200)
  })

  test('no other endpoint has them', async () => {
    await using service = await startEmulatedService()
    for (let call = 1; call <= 11; call += 1) {
      expect((await service.call('POST', '/v2/activities/:channel/userRecordList', {})).status).toBe(200)
    }
  })
})

describe('the rate limit', () => {
  test('refuses what comes too fast, and says when to come back only when told to', async () => {
    const clock = createFakeClock()
    await using service = await startEmulatedService({ clock, rateLimit: 2, retryAfterSeconds: 3 })
    const statuses = async () => {
      const answers = [
        await service.call('GET', '/v1/account/managers'),
        await service.call('GET', '/v1/account/managers'),
      ]
      return answers.map(({ status }) => status)
    }
    expect(await statuses()).toEqual([200, 200])
    const refused = await service.call('GET', '/v1/activities/:channel/getQuestionList')
    expect(refused).toMatchObject({ status: 429, json: { errcode: 429001 }, headers: { 'retry-after': '3' } })
    await clock.advance(500)
    expect(await statuses()).toEqual([200, 429])
  })

  test('may change while the service runs', async () => {
    const clock = createFakeClock()
    await using service = await startEmulatedService({ clock })
    const { conditions } = service.emulator
    const countAdmitted = async () => {
      const answers = await Promise.all(Array.from({ length: 9 }, () => service.call('GET', '/v1/account/managers')))
      return answers.filter(({ status }) => status === 200).length
    }
    expect(await countAdmitted()).toBe(9)
    conditions.callsPerSecond = 4
    expect(await countAdmitted()).toBe(4)
    await clock.advance(1000)
    conditions.callsPerSecond = 6
    expect(await countAdmitted()).toBe(6)
    conditions.callsPerSecond = undefined
    expect(await countAdmitted()).toBe(9)
  })

  test('without a rate there is none', async () => {
    await using service = await startEmulatedService()
    for (let call = 1; call <= 50; call += 1) {
      expect((await service.call('GET', '/v1/account/managers')).status).toBe(200)
    }
  })
})

test('latency is waited for on the clock', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  await using service = await startEmulatedService({ clock, latencyMs: 80 })
  await service.call('GET', '/v1/account/managers')
  expect(clock.waits).toEqual([80])
})

test('the Date header is that of the clock', async () => {
  const clock = createFakeClock({ startMs: Date.UTC(2020, 0, 2, 3, 4, 5) })
  await using service = await startEmulatedService({ clock })
  const { headers } = await service.call('GET', '/v1/account/managers')
  expect(headers['date']).toBe('Thu, 02 Jan 2020 03:04:05 GMT')
})

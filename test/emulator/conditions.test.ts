import { expect, test } from 'vitest'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'

const V1 = '/v1/activities/:channel/userRecords'

test('of the ten calls a day of 4.6 wrong ones count, the eleventh is refused, and the next day of the service begins at its midnight', async () => {
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

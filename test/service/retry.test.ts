import { expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import { retry } from '../../src/service/retry.ts'
import { openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'

function createFailingCall() {
  const clock = createFakeClock({ isAutomatic: true })
  const { log, lines } = createRecordingLog()
  const fail = async () => {
    throw new LivehouseError('api.unreachable', 'no connection', { call: 'GET list' })
  }
  const send = retry(fail, { clock, log, random: () => 0.5 })
  const call = async () => await send({ name: 'GET list', retries: 'read' }, openContext()).catch(() => {})
  return { clock, call, storms: () => lines.filter(({ event }) => event === 'calls.retryStorm').length }
}

test('a call is made five times, and the longest wait, half a second, doubles each time', async () => {
  const { clock, call } = createFailingCall()
  await call()
  expect(clock.waits).toEqual([250, 500, 1000, 2000])
})

test.each([
  [0, 1],
  [11_000, 0],
])('twenty retries within a minute cause one warning: calls %d ms apart, %i warnings', async (apartMs, warnings) => {
  const { clock, call, storms } = createFailingCall()
  for (let calls = 0; calls < 6; calls += 1) {
    await call()
    await clock.sleep(apartMs)
  }
  expect(storms()).toBe(warnings)
})

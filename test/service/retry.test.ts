import { expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import { retry } from '../../src/service/retry.ts'
import { openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { times } from '../helpers/first-rows.ts'
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

test('a service that has answered is waited for half a minute, unless a gateway waited in vain', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  const failures: LivehouseError[] = []
  const answer = async () => {
    const failure = failures.shift()
    if (failure) throw failure
  }
  const send = retry(answer, { clock, log: createRecordingLog().log, random: () => 0.5 })
  const attempts = async (status: number) => {
    failures.push(
      ...times(20, () => new LivehouseError('api.status', 'away', { call: 'GET list', status, reason: '' })),
    )
    await expect(send({ name: 'GET list', retries: 'read' }, openContext())).rejects.toThrow('away')
    return 20 - failures.splice(0).length
  }
  expect(await attempts(503)).toBe(5)
  await send({ name: 'GET list', retries: 'read' }, openContext())
  clock.waits.length = 0
  expect([await attempts(504), await attempts(503), await attempts(502)]).toEqual([5, 8, 8])
  expect(clock.waits.slice(4, 11)).toEqual([375, 750, 1500, 3000, 6000, 12_000, 24_000])
})

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

import { expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import { retry } from '../../src/service/retry.ts'
import { openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'

test('a call is made five times, or eight while a service that has answered is away, until that is in vain', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  const attempts = async (minutesApart: number, statuses: readonly number[], longestRefusedMs?: number) => {
    let [status, made] = [0, 0]
    const answer = async () => {
      made += 1
      if (status > 0) throw new LivehouseError('api.status', 'away', { call: 'GET list', status, reason: '' })
    }
    const call = retry(answer, { clock, log: createRecordingLog().log, random: () => 0.5, longestRefusedMs })
    const attemptsOf: number[] = []
    for (const given of statuses.flatMap((each) => [each, 0])) {
      ;[status, made] = [given, 0]
      await call({ name: 'GET list', retries: 'read' }, openContext()).catch(() => attemptsOf.push(made))
      clock.nowMs += minutesApart * 60_000
    }
    return attemptsOf
  }
  expect(await attempts(0, [503, 504, 503, 502])).toEqual([5, 5, 8, 5])
  // The longest wait, half a second, doubles each time.
  expect(clock.waits.slice(4, 15)).toEqual([250, 500, 1000, 2000, 375, 750, 1500, 3000, 6000, 12_000, 24_000])
  expect(await attempts(10, [504, 502, 503])).toEqual([5, 8, 8])
  // While a person is waiting.
  expect(await attempts(0, [504, 503], 5000)).toEqual([5, 5])
})

test.each([
  [0, 1],
  [11_000, 0],
])('twenty retries within a minute cause one warning: calls %d ms apart, %i warnings', async (apartMs, warnings) => {
  const clock = createFakeClock({ isAutomatic: true })
  const { log, lines } = createRecordingLog()
  const fail = async () => {
    throw new LivehouseError('api.unreachable', 'no connection', { call: 'GET list' })
  }
  const call = retry(fail, { clock, log, random: () => 0.5 })
  for (let calls = 0; calls < 6; calls += 1) {
    await call({ name: 'GET list', retries: 'read' }, openContext()).catch(() => {})
    await clock.sleep(apartMs)
  }
  expect(lines.filter(({ event }) => event === 'calls.retryStorm')).toHaveLength(warnings)
})

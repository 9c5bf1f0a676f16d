import { describe, expect, test } from 'vitest'
import { retry } from '../../src/service/retry.ts'
import type { Answer, Call, Send } from '../../src/service/send.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'

const call: Call = {
  endpoint: 'visitorList',
  name: 'POST visitorList channel 9 page 3',
  method: 'POST',
  host: 'base',
  path: '/',
  authorization: 'bearer',
  repeat: 'read',
}
const answer: Answer = { json: [], serviceTimeMs: undefined }
const { name } = call
const status = (code: number, retryAfterMs?: number) =>
  new LivehouseError('api.status', `${name}: ${code}`, {
    call: name,
    status: code,
    reason: '',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
const rateLimited = (retryAfterMs?: number) =>
  new LivehouseError('api.rateLimited', `${name}: 429`, {
    call: name,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
const refused = new LivehouseError('api.refused', `${name}: code 7`, { call: name, code: 7, reason: '' })
const cut = new LivehouseError('api.badBody', `${name}: cut`, { call: name, reason: 'cut' })
const unreachable = new LivehouseError('api.unreachable', `${name}: gone`, { call: name, reason: 'ECONNRESET' })
const stale = new LivehouseError('api.unauthorized', `${name}: 401`, { call: name, reason: '', isRenewable: true })

/** Sends through `retry` to a service that fails with each of `failures` in turn, then answers. */
function setUp(failures: readonly Error[], random = 1) {
  const clock = createFakeClock({ isAutomatic: true })
  const { log, lines } = createRecordingLog()
  let attempts = 0
  const next: Send = async (_call, context) => {
    const failure = failures[attempts]
    attempts += 1
    context.onAttempt?.(1)
    if (failure) throw failure
    return answer
  }
  return { send: retry(next, { clock, log, random: () => random }), clock, lines, attempts: () => attempts }
}

function times(count: number, error: Error): Error[] {
  return Array.from({ length: count }, () => error)
}

describe('how often', () => {
  test.each<[string, Error, Call['repeat'], number]>([
    ['503 on a read', status(503), 'read', 5],
    ['a cut body on a read', cut, 'read', 5],
    ['a reset connection on a read', unreachable, 'read', 5],
    ['an unknown errcode on a read', refused, 'read', 3],
    ['404 on a read', status(404), 'read', 1],
    ['503 on a menu change', status(503), 'idempotent', 5],
    ['an unknown errcode on a menu change', refused, 'idempotent', 1],
    ['503 on a call of ten a day', status(503), 'once', 2],
    ['an unknown errcode on a call of ten a day', refused, 'once', 1],
    ['503 on a ticket', status(503), 'never', 1],
    ['a reset connection on a new menu', unreachable, 'never', 1],
    ['429 on a new menu', rateLimited(), 'never', 1],
    ['a token that can be renewed', stale, 'read', 2],
    ['a token that can be renewed, for a ticket', stale, 'never', 2],
    ['a bug', new TypeError('bug'), 'read', 1],
  ])('%s', async (_case, failure, repeat, expected) => {
    const { send, attempts } = setUp(times(10, failure))
    await expect(send({ ...call, repeat }, openContext())).rejects.toBeInstanceOf(Error)
    expect(attempts()).toBe(expected)
  })

  test('refusals use up no attempt until they have lasted for ten minutes', async () => {
    const passing = setUp([...times(1000, rateLimited()), ...times(4, cut)])
    await expect(passing.send(call, openContext())).resolves.toBe(answer)
    const lasting = setUp(times(10_000, rateLimited()))
    const startMs = lasting.clock.now()
    expect(await errorOf(lasting.send(call, openContext()))).toMatchObject({ code: 'api.rateLimited' })
    expect(lasting.clock.now() - startMs).toBe(600_000)
  })

  test('refusals do not last longer than somebody waits, nor is a Retry-After begun that would', async () => {
    for (const [retryAfterMs, expected] of [
      [undefined, 5000],
      [2000, 4000],
      [30_000, 0],
    ] as const) {
      const clock = createFakeClock({ isAutomatic: true })
      const startMs = clock.now()
      const options = { clock, log: createRecordingLog().log, random: () => (retryAfterMs ? 0 : 1) }
      const send = retry(() => Promise.reject(rateLimited(retryAfterMs)), { ...options, longestRefusedMs: 5000 })
      expect(await errorOf(send(call, openContext()))).toMatchObject({ code: 'api.rateLimited' })
      expect(clock.now() - startMs).toBe(expected)
    }
  })
})

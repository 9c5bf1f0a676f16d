import { assert, jsonValue, property } from 'fast-check'
import { expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import { parseExact } from '../../src/service/read-answer.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { type ScriptedAnswer, startScriptedService } from '../helpers/scripted-service.ts'

const giftPage = { list: listOf('gifts', { channel: '9', type: 'cash' }), page: 1, pageSize: 100 }
const visitorPage = { list: listOf('visitors', { channel: '9' }), page: 3, pageSize: 100 }

test.each<[string, string, number]>([
  ['seconds', '7', 7000],
  ['an HTTP date', 'Fri, 20 Nov 2026 06:00:09 GMT', 9000],
  ['a date that has passed', 'Fri, 20 Nov 2026 05:00:00 GMT', 0],
  ['a day', '86400', 60_000],
  ['nonsense', 'soon', 0],
])('Retry-After as %s (%s) is waited for %i ms', async (_, header, waitMs) => {
  const clock = createFakeClock({ isAutomatic: true })
  await using service = await startScriptedService((_request, index) =>
    index === 0 ? { status: 503, headers: { 'retry-after': header }, text: '' } : { json: [] },
  )
  await using connection = connectClient(service.url, { clock, random: () => 0 })
  await connection.fetchPage(giftPage, openContext())
  expect(clock.waits).toEqual([waitMs])
})

test('a Retry-After of an hour causes one warning, and the final error names it', async () => {
  const clock = createFakeClock({ isAutomatic: true })
  const { log, lines } = createRecordingLog()
  const refusal = { status: 429, headers: { 'retry-after': '3600' }, json: {} }
  await using service = await startScriptedService(() => refusal)
  await using connection = connectClient(service.url, { clock, log, random: () => 0 })
  const error = await errorOf(connection.fetchPage(giftPage, openContext()))
  const message = expect.stringMatching(/^POST giftRunning channel 9.*: 429; the service asks to wait 3600 s/)
  expect(error).toMatchObject({ code: 'api.rateLimited', message })
  const warnings = lines.filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([{ event: 'calls.paused', fields: { reason: message, askedAgainAfterMs: 60_000 } }])
})

test.each([
  ['2', 4000],
  ['30', 0],
])('with a limit of five seconds, a Retry-After of %s is waited for only if it fits', async (after, waitedMs) => {
  const clock = createFakeClock({ isAutomatic: true })
  const startMs = clock.now()
  await using service = await startScriptedService(() => ({ status: 429, headers: { 'retry-after': after }, text: '' }))
  await using connection = connectClient(service.url, { clock, random: () => 0, longestRefusedMs: 5000 })
  const page = connection.fetchPage({ list: listOf('managers'), page: 1, pageSize: 100 }, openContext())
  expect(await errorOf(page)).toMatchObject({ code: 'api.rateLimited' })
  expect(clock.now() - startMs).toBe(waitedMs)
})

/** How the client judges an answer to `POST visitorList channel 9 page 3`, after how many attempts and how long. */
async function judge(answer: ScriptedAnswer) {
  const clock = createFakeClock({ isAutomatic: true })
  const startMs = clock.now()
  await using service = await startScriptedService(() => answer)
  await using connection = connectClient(service.url, { clock })
  const error = await errorOf(connection.fetchPage(visitorPage, openContext()))
  if (!(error instanceof LivehouseError)) throw error
  return { error, attempts: service.requests.length, elapsedMs: clock.now() - startMs }
}

test.each<[string, ScriptedAnswer, string, number]>([
  ['401', { status: 401, json: {} }, 'api.unauthorized', 1],
  ['401001 with status 200', { json: { errors: { code: 401001, message: 'no' } } }, 'api.unauthorized', 1],
  ['401001 as errcode', { json: { errcode: 401001, msg: 'no' } }, 'api.unauthorized', 1],
  ['403', { status: 403, text: 'no' }, 'api.forbidden', 1],
  ['403001 as text', { json: { errors: { code: '403001', message: 'no' } } }, 'api.forbidden', 1],
  ['403002', { json: { errcode: '403002', msg: 'no' } }, 'api.forbidden', 1],
  ['404002', { status: 404, json: { errors: { code: 404002, message: 'no' } } }, 'api.channelUnknown', 1],
  ['a msg about the channel', { json: { errcode: 2001, msg: 'activity does not exist' } }, 'api.channelUnknown', 1],
  ['the same in Chinese', { json: { errcode: 2001, msg: '频道不存在' } }, 'api.channelUnknown', 1],
  ['403 with a page', { status: 403, text: ' <html>' }, 'api.status', 5],
  ['404 with a page', { status: 404, text: '<html>not found</html>' }, 'api.status', 5],
  ['404 alone', { status: 404, text: 'not found' }, 'api.status', 1],
  ['400001', { status: 400, json: { errors: { code: 400001, message: 'Invalid' } } }, 'api.status', 1],
  ['408', { status: 408, text: '' }, 'api.status', 5],
  ['425', { status: 425, text: '' }, 'api.status', 5],
  ['500001 with status 200', { json: { errors: { code: 500001, message: 'logic' } } }, 'api.status', 5],
  ['502 with a page', { status: 502, text: '<html>bad gateway</html>' }, 'api.status', 5],
  ['an unknown errcode', { json: { errcode: 1024, msg: 'busy' } }, 'api.refused', 3],
  ['an unknown code', { json: { errors: { code: 7, message: 'seven' } } }, 'api.refused', 3],
  ['errors without a code', { json: { errors: { message: 'seven' } } }, 'api.refused', 3],
  ['errors as text', { json: { errors: 'seven' } }, 'api.refused', 3],
  ['status n', { json: { status: 'n', msg: 'no', flag: 101 } }, 'api.refused', 3],
  ['an HTML page', { text: '<!doctype html><p>maintenance' }, 'api.badBody', 5],
  ['an empty body', { text: '' }, 'api.badBody', 5],
  ['a lost connection', { raw: (response) => response.destroy() }, 'api.unreachable', 5],
  ['JSON that is cut', { text: '{"total_num":1,"results":[{"user' }, 'api.badBody', 5],
  ['an object without a list', { json: { errcode: 1000, msg: 'OK' } }, 'api.badShape', 1],
  ['null', { json: null }, 'api.badShape', 1],
])('each family of errors becomes its own code: %s', async (_name, answer, code, attempts) => {
  const message = expect.stringMatching(/^POST visitorList channel 9 page 3: /)
  expect(await judge(answer)).toMatchObject({ error: { code, message }, attempts })
})

test('a 429, or 429001 with status 200, uses up no attempt for ten minutes: later, a call may fail four times', async () => {
  const result = await judge({ json: { errors: { code: 429001, message: 'slow' } } })
  expect(result.error.code).toBe('api.rateLimited')
  expect(result.attempts).toBeGreaterThan(100)
  expect(result.elapsedMs).toBe(600_000)
  await using service = await startScriptedService((_request, index) =>
    index < 14 ? { status: index < 10 ? 429 : 502, text: '' } : { json: { total_num: 0, results: [] } },
  )
  await using connection = connectClient(service.url)
  expect(await connection.fetchPage(visitorPage, openContext())).toMatchObject({ items: [] })
})

test("the service's message is quoted with its code, on one line and shortened", async () => {
  const { error } = await judge({ json: { errcode: 12, msg: `first\nsecond ${'x'.repeat(5000)}` } })
  expect(error.message).toContain('code 12 "first second x')
  expect(error.message.length).toBeLessThan(400)
  const quoting = await judge({ json: { errcode: 12, msg: 'no viewer "a" of b' } })
  expect(quoting.error.message).toContain(String.raw`code 12 "no viewer \"a\" of b"`)
})

test('errcode 1000 as text is success, and empty `errors` are not a failure', async () => {
  const json = { errcode: '1000', errors: null, total_num: '0', results: [] }
  await using service = await startScriptedService(() => ({ json }))
  await using connection = connectClient(service.url)
  expect(await connection.fetchPage(visitorPage, openContext())).toMatchObject({ items: [], total: 0 })
})

test('redirects are not followed, and the message names host and setting but no query', async () => {
  await using other = await startScriptedService(() => ({ json: { total_num: 0, results: [] } }))
  const location = `${other.url}/login?next=secret`
  const { error, attempts } = await judge({ status: 302, headers: { location }, text: '' })
  expect(other.requests).toHaveLength(0)
  expect(attempts).toBe(1)
  expect(error.code).toBe('api.status')
  expect(error.message).toMatch(new RegExp(`redirects to ${other.url}; .*; set LIVEHOUSE_BASE_URL to`))
  expect(error.message).not.toContain('next=')
})

test.each<[string, unknown]>([
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', 9007199254740993n],
  ['-12345678901234567890', -12345678901234567890n],
  ['0.30000000000000004', 0.30000000000000004],
  ['0.1000000000000000055', '0.1000000000000000055'],
  ['12345678901.123456789', '12345678901.123456789'],
  ['1.50000000000000000000', 1.5],
  ['1e400', '1e400'],
  ['1e-400', '1e-400'],
  ['0e400', 0],
])('a number keeps every digit: %s', (source, value) => {
  expect(parseExact(`{"a":[${source}]}`)).toEqual({ a: [value] })
})

test.each(['9007199254740993', '-9007199254740993', '1e400', '-1.5E+400'])('%s is exact at any place', (source) => {
  const exact = source.includes('9') ? BigInt(source) : source
  for (const space of ['', ' ', '\n', '\r', '\t']) {
    for (const prefix of ['', '[', '[0,', '{"a":', '["a",']) {
      const end = prefix.startsWith('[') ? ']' : prefix === '' ? '' : '}'
      const parsed = parseExact(`${space}${prefix}${space}${source}${end}`)
      expect(prefix === '' ? parsed : Object.values(Object(parsed)).at(-1)).toBe(exact)
    }
  }
})

test('any other JSON gives what the plain parser gives', () => {
  assert(
    property(jsonValue(), (value) => {
      const text = JSON.stringify(value)
      // A long number beside it forces the slower parser.
      const parsed = parseExact(`[1234567890123456789,${text}]`)
      expect(JSON.stringify(parsed, roundBigints)).toBe(JSON.stringify([1234567890123456789n, value], roundBigints))
    }),
  )
})

function roundBigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

test.each(['', ',"n":12345678901234567890'])('a __proto__ key is a key like any other%s', (more) => {
  const parsed = parseExact(`{"__proto__":{"isAdmin":true}${more}}`)
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  expect(Object.keys(Object(parsed))).toContain('__proto__')
  expect(Reflect.get({}, 'isAdmin')).toBeUndefined()
})

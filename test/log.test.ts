import { assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { LivehouseError } from '../src/core/errors.ts'
import { createLog } from '../src/log.ts'

const SECRET = 'Gx7/ "kü+ 9%q'

function createTestLog(options: Partial<Parameters<typeof createLog>[0]> = {}) {
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line)
  return { lines, log: createLog({ level: 'debug', secrets: [SECRET], zoneOfPeople: undefined, write, ...options }) }
}

/** Every way in which a secret may be encoded in a log line. */
function encodings(secret: string): string[] {
  const uri = encodeURIComponent(secret)
  const lowerHex = uri.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  const inPath = new URL(`http://h/${secret.replaceAll(/[?#%]/g, encodeURIComponent)}`).pathname.slice(1)
  return [secret, uri, lowerHex, form, inPath, JSON.stringify(secret).slice(1, -1)]
}

/** Fields that hold a text in every place that a log call may have for it. */
function everywhere(text: string): Readonly<Record<string, unknown>> {
  const inner = new Error(`inner ${text}`, { cause: { url: new URL(`http://h/?q=${encodeURIComponent(text)}`) } })
  const cycle: Record<string, unknown> = { text }
  cycle.self = cycle
  return {
    text,
    nested: [{ deep: { deeper: [`a${text}b`] } }],
    err: new LivehouseError('api.unreachable', `at ${text}`, { call: text }, { cause: inner }),
    errors: new AggregateError([inner], text),
    map: new Map([[text, text]]),
    set: new Set([text]),
    [text]: 1,
    headers: new Headers({ 'x-note': encodeURIComponent(text) }),
    search: new URLSearchParams({ q: text }),
    bytes: Buffer.from(text),
    cycle,
  }
}

test.each(['JSON', 'lines for people'])('a known secret is never logged as %s, however it is encoded', (form) => {
  for (const encoded of encodings(SECRET)) {
    const { log, lines } = createTestLog({ zoneOfPeople: form === 'JSON' ? undefined : 'UTC' })
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](`event.${encoded}`, everywhere(encoded))
    expect(lines).toHaveLength(4)
    for (const encoding of encodings(SECRET)) expect(lines.join('')).not.toContain(encoding)
  }
})

test('a known secret is never logged, whatever its text', () => {
  // Marked, so that no name that the logger writes, and none in a stack, equals it.
  const secrets = string({ minLength: 3, maxLength: 12, unit: 'grapheme' }).map((text) => `§${text}§`)
  assert(
    property(secrets, (secret) => {
      const { log, lines } = createTestLog({ secrets: [secret] })
      for (const encoded of [secret, encodeURIComponent(secret)]) log.info('event', { ...everywhere(encoded) })
      for (const encoded of [secret, encodeURIComponent(secret)]) expect(lines.join('')).not.toContain(encoded)
    }),
  )
})

test('secrets that are learnt later are hidden wherever they are printed, of many passing ones the latest', () => {
  const { log, lines } = createTestLog()
  log.addSecret('first-token')
  log.info('token.fetched', { note: 'got first-token' })
  expect(lines.join('')).not.toContain('first-token')
  expect(log.redact('GET /?x=first-token')).toBe('GET /?x=[redacted]')
  log.addSecret('database-password')
  for (let number = 100; number < 200; number++) log.addSecret(`fetched-token-${number}`, 'passing')
  expect(log.redact('database-password fetched-token-199')).toBe('[redacted] [redacted]')
  expect(log.redact('fetched-token-100')).toBe('fetched-token-100')
})

test.each([
  [{ appSecret: 'x1y2' }],
  [{ headers: { Authorization: 'x1y2' } }],
  [{ access_token: 'x1y2' }],
  [{ tikect: 'x1y2' }],
  [{ deep: [{ password: { is: 'x1y2' } }] }],
  [{ url: 'postgres://me:x1y2@db/name' }],
  [{ url: 'https://h/v1/ticket?app_id=7&app_secret=x1y2&n=1' }],
  [{ err: new Error('request https://h/?access_token=x1y2 failed') }],
  [{ note: 'sent Bearer x1y2x1y2' }],
  [{ err: Object.assign(new Error('a check'), { detail: 'Failing row contains (x1y2)', where: 'line 1: "x1y2"' }) }],
])('a value whose name or form is that of a secret, or of a row that Postgres quotes, is hidden: %j', (fields) => {
  const { log, lines } = createTestLog()
  log.info('event', fields)
  expect(lines.join('')).not.toContain('x1y2')
  expect(lines.join('')).toContain('[redacted]')
})

test('a value that is not a secret is logged', () => {
  const { log, lines } = createTestLog()
  const fields = { appId: '7', hasToken: true, token: null, rows: 3, url: 'https://h/v2/a?p=2' }
  log.info('slice.ended', fields)
  expect(JSON.parse(lines.join(''))).toMatchObject({ level: 'info', event: 'slice.ended', ...fields })
})

test('a line for people shows our errors by message and cause, and other errors with their stack', () => {
  const { log, lines } = createTestLog({ zoneOfPeople: 'UTC' })
  const cause = new Error('connection refused')
  const err = new LivehouseError('db.refused', 'read-only', { reason: '', sqlState: '' }, { cause })
  log.error('run.failed', { err })
  expect(lines.join('')).toContain('    read-only\n    because of\n    Error: connection refused\n        at ')
})

test('a line may contain cycles, deep objects and values that JSON does not know', () => {
  const { log, lines } = createTestLog()
  const deep = Array.from({ length: 50 }).reduce<object>((inner) => ({ inner }), {})
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  log.info('event', { cycle, deep, big: 10n ** 30n, when: new Date(Number.NaN), call: () => 1, symbol: Symbol('s') })
  const expected = { event: 'event', cycle: { self: '[circular]' }, big: '1000000000000000000000000000000' }
  expect(JSON.parse(lines[0] ?? '')).toMatchObject(expected)
})

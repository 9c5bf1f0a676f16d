import { describe, expect, test, afterAll, beforeAll } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLog } from '../../src/core/log.ts'
import { createAccess, SESSION_COOKIE } from '../../src/web/access.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { movableClock, startTestStatusServer, type TestStatusServer } from '../helpers/status-server.ts'

const deps = { clock: systemClock, log: silentLog }
const none: ReadonlyMap<string, string> = new Map()

describe('without a token', () => {
  const access = createAccess(undefined, deps)

  test.each(['localhost', 'localhost:8787', '127.0.0.1:8787', '127.9.9.9', '[::1]:8787', 'LOCALHOST'])(
    '%s is this machine',
    (host) => expect(access.isHostKnown(host)).toBe(true),
  )

  test.each([undefined, '', 'evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '10.0.0.1'])(
    '%s is not',
    (host) => expect(access.isHostKnown(host)).toBe(false),
  )
})

describe('with a token', () => {
  const access = createAccess('s3cret', deps)

  test('the token opens, anything else does not', () => {
    expect(access.isAllowed('Bearer s3cret', none)).toBe(true)
    expect(access.isAllowed('bearer  s3cret', none)).toBe(true)
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer s3cre',
      'Bearer s3cret x',
      'Basic s3cret',
      's3cret',
    ]) {
      expect(access.isAllowed(wrong, none), String(wrong)).toBe(false)
    }
  })

  test('the cookie opens and does not tell the token; that of another token does not open', () => {
    const cookie = (value: string) => new Map([[SESSION_COOKIE, value]])
    expect(access.isAllowed(undefined, cookie(access.session ?? ''))).toBe(true)
    expect(access.session).not.toContain('s3cret')
    expect(access.isAllowed(undefined, cookie(createAccess('other', deps).session ?? ''))).toBe(false)
    expect(access.isAllowed(undefined, cookie(''))).toBe(false)
    expect(access.isAllowed(undefined, cookie('s3cret'))).toBe(false)
  })
})

let database: TestDatabase
let guarded: TestStatusServer
beforeAll(async () => {
  database = await createTestDatabase()
  guarded = await startTestStatusServer(database, { token: 'open-sesame' })
})
afterAll(async () => {
  await guarded[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const signIn = async (token: string, next = '/runs/1', headers: Readonly<Record<string, string>> = {}) =>
  await fetch(`${guarded.server.url}/login`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ token, next }),
    redirect: 'manual',
  })

test('pages and metrics are closed; health and readiness are open', async () => {
  for (const path of ['/', '/channels', '/runs/1', '/metrics', '/nothing']) {
    const answer = await guarded.get(path)
    expect([path, answer.status]).toEqual([path, 401])
    expect(await answer.text()).not.toContain('livehouse_')
  }
  for (const path of ['/healthz', '/readyz']) expect([path, (await guarded.get(path)).status]).toEqual([path, 200])
})

test('the bearer token opens', async () => {
  const authorization = 'Bearer open-sesame'
  expect((await guarded.get('/metrics', { authorization: 'Bearer wrong' })).status).toBe(401)
  for (const path of ['/', '/metrics']) expect((await guarded.get(path, { authorization })).status).toBe(200)
})

test('signing in sets a cookie that opens, and leads to the page that was asked for', async () => {
  const form = await guarded.text('/channels?q=a')
  expect(form).toContain('<form method="post" action="/login">')
  expect(form).toContain('name="next" value="/channels?q=a"')
  const answer = await signIn('open-sesame')
  const cookie = answer.headers.get('set-cookie') ?? ''
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/runs/1'])
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/)
  expect(cookie).not.toContain('sesame')
  expect((await guarded.get('/', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200)
  const behindTls = await signIn('open-sesame', '/', { 'x-forwarded-proto': 'https' })
  expect(behindTls.headers.get('set-cookie')).toMatch(/; Secure$/)
})

test('after ten wrong tokens within a minute the form takes none, and each of the ten is logged', async () => {
  const clock = movableClock()
  const { log, lines } = createRecordingLog()
  await using own = await startTestStatusServer(database, { token: 'open-sesame-open-sesame', clock, log })
  const tryToken = async (token: string) =>
    await fetch(`${own.server.url}/login`, { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' })
  const wrong = await Promise.all(Array.from({ length: 10 }, async () => await tryToken('nope')))
  expect(wrong.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 401))
  expect((await tryToken('open-sesame-open-sesame')).status).toBe(429)
  expect((await own.get('/metrics', { authorization: 'Bearer nope' })).status).toBe(401)
  const refused = lines.filter(({ event }) => event === 'http.tokenRefused')
  expect(refused).toHaveLength(10)
  expect(refused[0]?.fields).toMatchObject({ from: '127.0.0.1' })
  clock.nowMs += 60_000
  expect((await tryToken('open-sesame-open-sesame')).status).toBe(303)
})

test('a wrong token opens nothing, and says so', async () => {
  const answer = await signIn('nope')
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
  expect(await answer.text()).toContain('That is not the token.')
})

test.each([
  '//evil.example/',
  '/\\evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/login',
])('signing in never leads to %s', async (next) =>
  expect((await signIn('open-sesame', next)).headers.get('location')).toBe('/'),
)

test('a form that is too large is not read', async () => {
  expect((await signIn('x'.repeat(5000))).status).toBe(413)
})

import { expect, test } from 'vitest'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { movableClock, startTestStatusServer } from '../helpers/status-server.ts'

const database = ofFile(createTestDatabase)
const guarded = ofFile(() => startTestStatusServer(database, { token: 'open-sesame' }))
const signIn = async (token: string, next = '/runs/1', headers = {}, on = guarded) => {
  const body = new URLSearchParams({ token, next })
  return await fetch(`${on.server.url}/login`, { method: 'POST', headers, body, redirect: 'manual' })
}

test('pages and metrics are closed; health and readiness are open', async () => {
  for (const path of ['/', '/channels', '/runs/1', '/metrics', '/nothing']) {
    const answer = await guarded.get(path)
    expect([path, answer.status]).toEqual([path, 401])
    expect(await answer.text()).not.toContain('livehouse_')
  }
  for (const path of ['/healthz', '/readyz']) expect([path, (await guarded.get(path)).status]).toEqual([path, 200])
})

test('the bearer token grants access', async () => {
  const authorization = 'Bearer open-sesame'
  for (const wrong of ['Bearer', 'Bearer wrong', 'Bearer open-sesam', 'Bearer open-sesame x', 'Basic open-sesame'])
    expect([wrong, (await guarded.get('/metrics', { authorization: wrong })).status]).toEqual([wrong, 401])
  for (const path of ['/', '/metrics']) expect((await guarded.get(path, { authorization })).status).toBe(200)
})

test('signing in sets a cookie that grants access, and redirects to the requested page; a large form is refused', async () => {
  const form = await guarded.text('/channels?q=a')
  expect(form).toContain('<form method="post" action="/login">')
  expect(form).toContain('name="next" value="/channels?q=a"')
  const answer = await signIn('open-sesame')
  const cookie = answer.headers.get('set-cookie') ?? ''
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/runs/1'])
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/)
  expect(cookie).not.toContain('sesame')
  expect((await guarded.get('/', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200)
  // Neither the token itself nor the cookie of another token is accepted as the cookie.
  await using other = await startTestStatusServer(database, { token: 'open-sesame-too' })
  expect((await other.get('/', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(401)
  for (const value of ['', 'open-sesame'])
    expect((await guarded.get('/', { cookie: `livehouse_session=${value}` })).status).toBe(401)
  const behindTls = await signIn('open-sesame', '/', { 'x-forwarded-proto': 'https' })
  expect(behindTls.headers.get('set-cookie')).toMatch(/; Secure$/)
  expect((await signIn('x'.repeat(5000))).status).toBe(413)
})

test('somebody who guesses keeps nobody out, and fills no log', async () => {
  const clock = movableClock()
  const { log, lines } = createRecordingLog()
  await using own = await startTestStatusServer(database, { token: 'open-sesame-open-sesame', clock, log })
  const tryToken = async (token: string) => await signIn(token, '/', {}, own)
  expect((await own.get('/metrics', { authorization: 'Bearer nope' })).status).toBe(401)
  const wrong = await Promise.all(Array.from({ length: 10 }, async () => await tryToken('nope')))
  expect(wrong.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 401))
  expect(wrong[0]?.headers.get('set-cookie')).toBeNull()
  expect(await wrong[0]?.text()).toContain('That is not the token.')
  expect((await tryToken('open-sesame-open-sesame')).status).toBe(303)
  const refused = () => lines.filter(({ event }) => event === 'http.tokenRefused')
  expect(refused()).toHaveLength(10)
  expect(refused()[0]?.fields).toMatchObject({ from: '127.0.0.1' })
  clock.nowMs += 60_000
  await tryToken('nope')
  expect(refused()).toHaveLength(11)
})

test.each([
  '//evil.example/',
  '/\\evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/login',
  '/actions/run',
])('signing in never leads to %s', async (next) =>
  expect((await signIn('open-sesame', next)).headers.get('location')).toBe('/'),
)

import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { openRun, startRun } from '../../src/ledger/runs/runs.ts'
import { migrateUp } from '../../src/store/migrate.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { createFactsSource } from '../../src/web/facts.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase, onServer } from '../helpers/postgres.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'
import { movableClock, startTestStatusServer } from '../helpers/status-server.ts'
import { withParameters } from '../helpers/with-parameters.ts'

const database = ofFile(createTestDatabase)
const open = ofFile(() => startTestStatusServer(database))
/** `fetch` does not send a Host header of its own. */
async function statusFor(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const [response] = await once(request(url, { headers }).end(), 'response')
  response.resume()
  return response.statusCode
}

test('connections that never finish their request are closed, which makes room for the probes', async () => {
  const { hostname, port } = new URL(open.server.url)
  const sockets = Array.from({ length: 120 }, () => connect(Number(port), hostname))
  let late = 0
  try {
    await Promise.all(
      sockets.map(async (socket) => {
        socket.on('error', () => {}).once('data', (answer) => (late += Number(/^HTTP\S* 408 /.test(String(answer)))))
        socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
      }),
    )
    // The others are closed at once, because there are too many.
    expect(late).toBe(100)
    expect((await open.get('/healthz')).status).toBe(200)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

test('clients that read nothing of their answers are disconnected, and take little memory until then', async () => {
  await using status = await startTestStatusServer(database)
  const { hostname, port } = new URL(status.server.url)
  const [script = ''] = /\/assets\/\w+-chart.js/.exec(await status.text('/')) ?? []
  const before = process.memoryUsage().rss
  const requests = `GET ${script} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(100)
  const sockets = Array.from({ length: 100 }, () => connect(Number(port), hostname).on('error', () => {}))
  try {
    for (const socket of sockets) socket.write(requests)
    await vi.waitFor(async () => expect((await status.get('/healthz')).status).toBe(200), 30_000)
    // Together, the answers have 2 GB.
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

const pages = ['/', '/channels', '/channels/none', '/runs', '/runs/1', '/quarantine']
const paths = [...pages, '/healthz', '/readyz', '/metrics', '/nothing', '/assets/x']

test.each(paths)('%s is answered with security headers', async (path) => {
  const { headers } = await open.get(path)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|data:|\*|http/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cache-control')).toBe('no-store')
})

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is not allowed anywhere', async (method) => {
  for (const path of [...paths, '/login', '/actions/run']) {
    const answer = await open.get(path, {}, method)
    expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD'])
  }
})

test('a page without data says so, loads nothing from elsewhere, and has no inline script or style', async () => {
  for (const path of ['/runs?command=%00', '/quarantine?stream=%00']) expect((await open.get(path)).status).toBe(400)
  const page = await open.text('/')
  expect(page).toContain('Nothing has run yet')
  expect(page).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style|\son\w+=|\sstyle=|https?:\/\//)
  for (const [, path = ''] of page.matchAll(/(?:src|href)="(\/assets\/[^"]*)"/g)) {
    const asset = await open.get(path)
    expect([path, asset.status]).toEqual([path, 200])
    expect(asset.headers.get('cache-control')).toContain('immutable')
  }
})

test('on loopback without a token, requests for any other host name are refused', async () => {
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '10.0.0.1']) {
    for (const path of ['/', '/metrics', '/channels'])
      expect([host, await statusFor(open.server.url + path, { host })]).toEqual([host, 403])
  }
  for (const host of ['localhost:1', 'LOCALHOST', '127.9.9.9', '[::1]:8787'])
    expect([host, await statusFor(`${open.server.url}/`, { host })]).toEqual([host, 200])
  expect(await statusFor(`${open.server.url}/healthz`, { host: 'evil.example' })).toBe(200)
})

test('a database with pending migrations is not ready, nor is one that takes no writes', async () => {
  await using bare = await createTestDatabase({ isMigrated: false })
  await using status = await startTestStatusServer(bare)
  const answer = await status.get('/readyz')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ status: 'not ready', database: 'pending migrations' })
  await migrateUp(bare.db)
  const options = { options: '-c default_transaction_read_only=on' }
  await using db = await openDatabase(withParameters(bare.url, options))
  await using readOnly = await startTestStatusServer({ db })
  expect(JSON.parse(await readOnly.text('/readyz'))).toMatchObject({ status: 'not ready', database: 'read-only' })
})

test('page, readiness and metrics report a lost database, and recover when it is back', async () => {
  await using own = await createTestDatabase()
  await using db = await openDatabase(own.url)
  const clock = movableClock()
  const { log, lines } = createRecordingLog()
  await using status = await startTestStatusServer({ db }, { clock, log })
  await using leases = new Leases(db)
  const runId = await openRun(db, { command: 'sync', settings: {}, startedAt: new Date(clock.nowMs) }, leases)
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'active', ${runId})`.execute(db)
  expect(await status.text('/')).toContain('The first sync has not finished')
  expect(JSON.parse(await status.text('/healthz'))).toEqual({ status: 'alive' })
  expect(JSON.parse(await status.text('/readyz'))).toEqual({ status: 'ready', database: 'ok', pending_migrations: [] })

  const allowConnections = async (isAllowed: boolean) =>
    await onServer(async (admin) => {
      await sql`alter database ${sql.id(own.name)} allow_connections ${sql.raw(String(isAllowed))}`.execute(admin)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${own.name}`.execute(admin)
    })
  await allowConnections(false)
  clock.nowMs += 400_000
  const page = await status.get('/')
  expect(page.status).toBe(503)
  const text = await page.text()
  expect(text).toContain('The database cannot be read')
  // The facts that were read earlier stay, with their time.
  expect(text).toContain('What follows is as of 20 Nov 2026, 06:30')
  expect(text.replaceAll('<wbr>', '')).toMatch(new RegExp(`Since 20 Nov 2026, 06:36 .*Database [^ ]*/${own.name} `))
  expect(await status.text('/?lang=zh')).toMatch(
    /起： <b>数据库连接不上，或不能使用<.b> <span lang="en"><bdi>Database /,
  )
  for (const path of ['/channels/9', `/runs/${runId}`]) {
    const part = await status.get(path)
    expect([path, part.status]).toEqual([path, 503])
    expect(await part.text()).toMatch(/The database cannot be read((?! UTC)[^])*This page could not be read/)
  }
  expect((await status.get('/channels/none')).status).toBe(404)
  expect(lines.map(({ event }) => event)).toEqual(['http.listening', 'page.unread'])
  expect((await status.get('/healthz')).status).toBe(200)
  expect((await status.get('/readyz')).status).toBe(503)
  expect(await status.text('/metrics')).toContain('livehouse_database_up 0')

  await allowConnections(true)
  // After a clock is set back, the old state must not be shown until it has caught up.
  clock.nowMs -= 600_000
  for (const path of ['/channels/9', `/runs/${runId}`, '/', '/readyz'])
    expect((await status.get(path)).status, path).toBe(200)
  expect(await status.text('/metrics')).toContain('livehouse_database_up 1')
})

test('readiness and metrics report within seconds that the database hangs, and recover when it answers', async () => {
  await using own = await createTestDatabase()
  await using proxy = await startStallingProxy(own.url)
  // The pool detects silence later than this test takes, so that plays no part here.
  await using db = await openDatabase(proxy.url)
  const nowMs = { offset: 0 }
  // Makes requests give up sooner while nothing can answer.
  let speedup = 1
  const clock = {
    now: () => Date.now() + nowMs.offset,
    sleep: async (ms: number, signal?: AbortSignal) => await systemClock.sleep(ms / speedup, signal),
  }
  await using status = await startTestStatusServer({ db }, { clock })
  expect(await status.text('/metrics')).toContain('livehouse_database_up 1')
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: new Date(clock.now()) })
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'active', ${runId})`.execute(db)
  nowMs.offset += 400_000
  expect((await status.get('/channels/9')).status).toBe(200)
  proxy.stall()
  speedup = 10
  nowMs.offset += 400_000
  expect((await status.get('/readyz')).status).toBe(503)
  expect(await status.text('/metrics')).toMatch(/livehouse_database_up 0[^]*livehouse_build_info/)
  expect((await status.get('/')).status).toBe(503)
  // After 3 s, a tenth of that by this clock. Without that limit they would wait for the pool, which takes 10 s.
  const poolGivesUp = sql`select`.execute(db).catch(() => 'the pool gave up first')
  const parts = Promise.all(['/channels/9', `/runs/${runId}`].map(async (path) => (await status.get(path)).status))
  expect(await Promise.race([poolGivesUp, parts])).toEqual([503, 503])
  proxy.reconnect()
  speedup = 1
  await vi.waitFor(async () => expect(await status.text('/metrics')).toContain('livehouse_database_up 1'), 120_000)
  expect((await status.get('/readyz')).status).toBe(200)
})

test('the page recovers 3 s after the end of an outage that took 10 s to show', async () => {
  await using database = await createTestDatabase()
  let isDown = true
  const clock = createFakeClock()
  const readFacts = createFactsSource({
    db: database.db,
    clock,
    log: silentLog,
    budget: { v1Budget: 10, v1BudgetScope: 'account' },
    readJobs: async () => {
      if (!isDown) return []
      clock.nowMs += 10_000
      throw new Error('connect ETIMEDOUT')
    },
  })
  expect(await readFacts()).toMatchObject({
    facts: undefined,
    failure: { error: { message: 'connect ETIMEDOUT' }, sinceMs: clock.nowMs - 10_000 },
  })
  isDown = false
  await clock.runTo(clock.nowMs + 3000)
  expect(await readFacts()).toMatchObject({ facts: { open: [] }, failure: undefined })
})

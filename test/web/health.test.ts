import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { openRun, startRun } from '../../src/ledger/runs/runs.ts'
import { createFactsSource } from '../../src/web/facts.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { createTestDatabase, onServer } from '../helpers/postgres.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'
import { movableClock, startTestStatusServer } from '../helpers/status-server.ts'

test('pending migrations make it not ready', async () => {
  await using bare = await createTestDatabase({ isMigrated: false })
  await using status = await startTestStatusServer(bare)
  const answer = await status.get('/readyz')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ status: 'not ready', database: 'pending migrations' })
})

test('a database that goes away is told of by page, readiness and metrics, and all recover when it is back', async () => {
  await using own = await createTestDatabase()
  await using db = await openDatabase(own.url)
  const clock = movableClock()
  const { log, lines } = createRecordingLog()
  await using status = await startTestStatusServer({ db }, { clock, log })
  await using leases = new Leases(db)
  const runId = await openRun(db, { command: 'sync', settings: {}, startedAt: new Date(clock.nowMs) }, leases)
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'active', ${runId})`.execute(db)
  expect(await status.text('/')).toContain('The first sync is under way')
  expect(JSON.parse(await status.text('/healthz'))).toEqual({ status: 'alive' })
  expect(JSON.parse(await status.text('/readyz'))).toEqual({ status: 'ready', database: 'ok', pending_migrations: [] })

  const setDoor = async (isOpen: boolean) =>
    await onServer(async (admin) => {
      await sql`alter database ${sql.id(own.name)} allow_connections ${sql.raw(String(isOpen))}`.execute(admin)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${own.name}`.execute(admin)
    })
  await setDoor(false)
  clock.nowMs += 400_000
  const page = await status.get('/')
  expect(page.status).toBe(503)
  const text = await page.text()
  expect(text).toContain('The database cannot be read')
  // What was known stays, with its time.
  expect(text).toContain('What follows is as of 20 Nov 2026, 06:30')
  expect(text.replaceAll('<wbr>', '')).toMatch(new RegExp(`Since 20 Nov 2026, 06:36 .*Database [^ ]*/${own.name} `))
  expect(await status.text('/?lang=zh')).toMatch(
    /起： <b>数据库连接不上，或不能使用<.b> <span lang="en"><bdi>Database /,
  )
  for (const path of ['/channels/9', `/runs/${runId}`]) {
    const part = await status.get(path)
    expect([path, part.status]).toEqual([path, 503])
    expect(await part.text()).toMatch(/The database cannot be read((?! UTC)[^])*What this page shows was not read/)
  }
  expect((await status.get('/channels/none')).status).toBe(404)
  expect(lines.map(({ event }) => event)).toEqual(['http.listening', 'page.unread'])
  expect((await status.get('/healthz')).status).toBe(200)
  expect((await status.get('/readyz')).status).toBe(503)
  expect(await status.text('/metrics')).toContain('livehouse_database_up 0')

  await setDoor(true)
  clock.nowMs += 400_000
  expect((await status.get('/channels/9')).status).toBe(200)
  expect((await status.get(`/runs/${runId}`)).status).toBe(200)
  expect((await status.get('/')).status).toBe(200)
  expect((await status.get('/readyz')).status).toBe(200)
  expect(await status.text('/metrics')).toContain('livehouse_database_up 1')
})

test('a database that hangs is told of within seconds by readiness and metrics, which recover when it answers', async () => {
  await using own = await createTestDatabase()
  await using proxy = await startStallingProxy(own.url)
  // The watch for silence takes longer than this test may: nothing here is told by it.
  await using db = await openDatabase(proxy.url)
  const nowMs = { offset: 0 }
  // While nothing can answer, a request gives up soon.
  let haste = 1
  const clock = {
    now: () => Date.now() + nowMs.offset,
    sleep: async (ms: number, signal?: AbortSignal) => await systemClock.sleep(ms / haste, signal),
  }
  await using status = await startTestStatusServer({ db }, { clock })
  expect(await status.text('/metrics')).toContain('livehouse_database_up 1')
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: new Date(clock.now()) })
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'active', ${runId})`.execute(db)
  nowMs.offset += 400_000
  expect((await status.get('/channels/9')).status).toBe(200)
  proxy.stall()
  haste = 10
  nowMs.offset += 400_000
  expect((await status.get('/readyz')).status).toBe(503)
  const text = await status.text('/metrics')
  expect(text).toContain('livehouse_database_up 0')
  expect(text).toContain('livehouse_build_info')
  expect((await status.get('/')).status).toBe(503)
  // A tenth of three seconds, by this clock. Without their own limit they wait for a connection as long as the pool does, for 10 s.
  const poolGivesUp = sql`select`.execute(db).catch(() => 'the pool has given up before')
  const parts = Promise.all(['/channels/9', `/runs/${runId}`].map(async (path) => (await status.get(path)).status))
  expect(await Promise.race([poolGivesUp, parts])).toEqual([503, 503])
  proxy.goOn()
  haste = 1
  await vi.waitFor(async () => expect(await status.text('/metrics')).toContain('livehouse_database_up 1'), 120_000)
  expect((await status.get('/readyz')).status).toBe(200)
})

test('an outage that took 10 s to show is over on the page 3 s after it is over', async () => {
  await using database = await createTestDatabase()
  let isAway = true
  const clock = createFakeClock()
  const readFacts = createFactsSource({
    db: database.db,
    clock,
    log: silentLog,
    budget: { v1Budget: 10, v1BudgetScope: 'account' },
    readJobs: async () => {
      if (!isAway) return []
      clock.nowMs += 10_000
      throw new Error('connect ETIMEDOUT')
    },
  })
  expect(await readFacts()).toMatchObject({
    facts: undefined,
    failure: { error: { message: 'connect ETIMEDOUT' }, sinceMs: clock.nowMs - 10_000 },
  })
  isAway = false
  await clock.runTo(clock.nowMs + 3000)
  expect(await readFacts()).toMatchObject({ facts: { open: [] }, failure: undefined })
})

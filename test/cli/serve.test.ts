import { expect, test, vi } from 'vitest'
import type { CliContext } from '../../src/cli/command.ts'
import { serve } from '../../src/cli/serve.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Log, LogFields } from '../../src/core/log.ts'
import { beginJobRun, endJobRun, takeJob } from '../../src/ledger/jobs.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'

const TOKEN = 'open-sesame-open-sesame'
const PAGE = 'status page: '
const jobs = createJobsFolder({ managers: `export default { cron: '* * * * *', streams: ['managers'] }` })

/** Serves on a free port. @returns the URL, the running command, and what ends it */
async function startServe(environment: Readonly<Record<string, string>>, overrides: Partial<CliContext> = {}) {
  const stop = new AbortController()
  const listening = Promise.withResolvers<string>()
  const { context } = createTestContext({
    signal: stop.signal,
    remark: (line) => void (line.startsWith(PAGE) && listening.resolve(line.slice(PAGE.length))),
    environment: { ...environment, LIVEHOUSE_HTTP: '127.0.0.1:0' },
    ...overrides,
  })
  const running = serve.run(context, [])
  const end = async () => {
    stop.abort(new Error('stop'))
    await running
  }
  return { url: String(await Promise.race([listening.promise, running])), running, end }
}

test('serve runs a job, and shows it on its page and in its metrics', async () => {
  await using account = await startAccount()
  // The clock stands just before a full minute until serve has started, however long that takes.
  let startedAtMs: number | undefined
  const sinceStart = () => (startedAtMs === undefined ? 0 : systemClock.now() - startedAtMs)
  let laterMs = 0
  const clock = { ...systemClock, now: () => Date.UTC(2026, 10, 20, 6, 30, 59, 500) + sinceStart() + laterMs }
  const ended = Promise.withResolvers<LogFields | undefined>()
  const info: Log['info'] = (event, fields) => {
    if (event === 'serve.started') startedAtMs = systemClock.now()
    if (event === 'job.ended') ended.resolve(fields)
  }
  const environment = { ...account.environment, LIVEHOUSE_JOBS_DIR: jobs, LIVEHOUSE_HTTP_TOKEN: TOKEN }
  const { url, running, end } = await startServe(environment, { clock, log: { ...silentLog, info } })
  const fetchText = async (path: string) =>
    await (await fetch(url + path, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
  const dueTime = 'livehouse_job_next_run_timestamp_seconds{job="managers"}'
  await vi.waitFor(async () => expect(await fetchText('/metrics')).toContain(dueTime), 60_000)
  expect(await Promise.race([ended.promise, running])).toMatchObject({ job: 'managers', status: 'ok' })

  expect(JSON.parse(await fetchText('/readyz'))).toMatchObject({ status: 'ready' })
  // Facts that have been read are reused for a while.
  laterMs = 600_000
  const metrics = await fetchText('/metrics')
  expect(metrics).toMatch(/livehouse_calls_total\{endpoint="managers",outcome="ok"\} [1-9]/)
  expect(metrics).toContain('livehouse_last_run_status{status="ok"} 1')
  expect(metrics).toContain('livehouse_build_info{version="1.2.3"} 1')
  const page = await fetchText('/')
  expect(page).toContain('run managers')
  expect(page).toContain('<code>* * * * *</code>')
  expect(page).not.toContain(TOKEN)
  expect((await fetch(`${url}/`)).status).toBe(401)

  await end()
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('only an unfinished run is shown as running while its job is locked, or else as interrupted', async () => {
  await using account = await startAccount()
  const { db } = account.database
  const off = `export default { cron: '@yearly', enabled: false }`
  for (const name of ['alive', 'dead', 'done']) {
    const startedAt = new Date('2026-11-20T00:00:00Z')
    const jobRun = await beginJobRun(db, { job: name, due: undefined, worker: 'other:1', startedAt })
    if (name === 'done' && jobRun)
      await endJobRun(db, jobRun, { status: 'ended', outcome: 'ok', runId: null, error: null, finishedAt: startedAt })
  }
  await using _aliveLock = await takeJob(db, 'alive')
  await using _doneLock = await takeJob(db, 'done')
  const folder = createJobsFolder({ alive: off, dead: off, done: off })
  const { url, end } = await startServe({ ...account.environment, LIVEHOUSE_JOBS_DIR: folder })
  const page = await (await fetch(url)).text()
  const cells = page.matchAll(/<bdi>(alive|dead|done)<.bdi>.*?data-label="Last".*?<.svg>(\w+)<.span>/gs)
  const states = [...cells].map(([, name, state]) => `${name} ${state}`)
  expect(states).toEqual(['alive running', 'dead interrupted', 'done ok'])
  await end()
})

test('serve does not start if a setting of its page is wrong, but starts without a page', async () => {
  await using account = await startAccount()
  const problemsOf = async (settings: Readonly<Record<string, string>>) =>
    (await account.run(serve, [], { LIVEHOUSE_JOBS_DIR: jobs, ...settings })).problems.join('\n')
  expect(await problemsOf({ LIVEHOUSE_HTTP: '0.0.0.0:0' })).toContain('LIVEHOUSE_HTTP_TOKEN is not set')
  const usedAddress = new URL(account.emulator.baseUrl).host
  const inUse = `LIVEHOUSE_HTTP is ${usedAddress}, where livehouse cannot listen (listen EADDRINUSE: `
  expect(await problemsOf({ LIVEHOUSE_HTTP: usedAddress })).toContain(inUse)
  expect(await problemsOf({ LIVEHOUSE_LANG: 'klingon' })).toContain('LIVEHOUSE_LANG is "klingon"')

  const stop = new AbortController()
  const info = (event: string) => void (event === 'serve.started' && stop.abort(new Error('stop')))
  const settings = { LIVEHOUSE_JOBS_DIR: jobs, LIVEHOUSE_HTTP: 'off' }
  const overrides = { clock: systemClock, log: { ...silentLog, info }, signal: stop.signal }
  const { error, remarks } = await account.run(serve, [], settings, overrides)
  expect([error, remarks.filter((line) => line.startsWith(PAGE))]).toEqual([undefined, []])
})

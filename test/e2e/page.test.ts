import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { streams } from '../../src/streams/registry.ts'
import { status as answers, fieldValue, hang } from '../helpers/fault-effects.ts'
import { ofTest } from '../helpers/of-file.ts'
import { untilRow } from '../helpers/own-locks.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { heldPartitions } from '../helpers/queue-account.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { startChild } from '../helpers/start-child.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'

const by = 'status page, from 127.0.0.1'
const TOKEN = 'a token of many letters'.replaceAll(' ', '-')
const emulator = ofTest(() => startEmulator({ channels: 5, viewers: 40 }))
const database = ofTest(createTestDatabase)
const environment = () => environmentOf(emulator, database)
const runSync = async () => await runVerb(sync, [], { environment: environment(), clock: systemClock })

type Fields = Readonly<Record<string, string>>

async function startServe() {
  const lists = `export default { enabled: false, cron: '30 4 * * 0', streams: ['managers'] }`
  const folder = createJobsFolder({ lists })
  const settings = { LIVEHOUSE_JOBS_DIR: folder, LIVEHOUSE_HTTP: '127.0.0.1:0', LIVEHOUSE_HTTP_TOKEN: TOKEN }
  const child = startChild(['serve'], { ...environment(), ...settings, LOG_LEVEL: 'info' })
  const [, url = ''] = /"url":"(http[^"]*)"/.exec(await child.untilOutput('"serve.started"')) ?? []
  const headers = { authorization: `Bearer ${TOKEN}` }
  return {
    child,
    text: async (path: string) => await (await fetch(url + path, { headers })).text(),
    post: async (path: string, fields: Fields, others: Fields = headers) => {
      const body = new URLSearchParams(fields)
      return await fetch(url + path, { method: 'POST', headers: others, body, redirect: 'manual' })
    },
    stop: async () => {
      child.process.kill('SIGTERM')
      expect(await child.ended).toMatchObject({ code: 143 })
    },
  }
}

const csrfOf = (page: string) => /name="csrf" value="([0-9a-f]+)"/.exec(page)?.[1] ?? ''

const sectionOf = (page: string, id: string) =>
  new RegExp(`<section id="${id}".*?</section>`, 's').exec(page)?.[0] ?? ''

test('with the token, the page runs a job, reopens a range and retries the quarantine, each on record', async () => {
  const [first = ''] = emulator.channelIds
  const effect = fieldValue('user_id', { nick: '某某某' }, 3)
  emulator.faults.push({ effect, endpoint: 'visitorList', channelId: first, page: 1 })
  await runSync()
  emulator.faults.length = 0
  const { child, text, post, stop } = await startServe()

  const overview = await text('/')
  expect(overview).toContain('At 04:30, only on Sunday')
  expect(overview).toMatch(/<td[^>]*data-label="Next"[^>]*>.*off/)
  const quarantine = await text('/quarantine')
  expect(quarantine).toContain('user_id is {…')
  expect(quarantine).toContain('&quot;user_id&quot;:{&quot;nick&quot;:&quot;xxx&quot;}')
  expect(quarantine).not.toContain('某')

  const csrf = csrfOf(overview)
  const job = { job: 'lists' }
  expect((await post('/actions/run', { csrf, ...job }, {})).status).toBe(401)
  const refusals = [
    await post('/actions/run', job),
    await post('/actions/run', { csrf: 'f'.repeat(64), ...job }),
    await post('/actions/run', { csrf, ...job }, { authorization: `Bearer ${TOKEN}`, 'sec-fetch-site': 'cross-site' }),
  ]
  expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403])
  expect((await post('/actions/run', { csrf, job: 'none' })).status).toBe(404)
  expect((await post('/actions/other', { csrf })).status).toBe(405)
  const range = { csrf, channel: first, stream: 'gifts', from: '2020-01-02', to: '2020-01-01' }
  expect((await post('/actions/reopen', range)).status).toBe(400)
  expect((await sql`select from livehouse_ops.runs`.execute(database.db)).rows).toHaveLength(1)

  const queued = await post('/actions/run', { csrf, ...job })
  expect([queued.status, queued.headers.get('location')]).toEqual([303, '/runs?queued=lists'])
  expect([303, 409]).toContain((await post('/actions/run', { csrf, ...job })).status)
  await child.untilOutput('"job.ended"')
  const reopened = await post('/actions/reopen', { ...range, to: '2020-01-02' })
  const paths = [reopened, await post('/actions/retry', { csrf })].map(({ headers }) => headers.get('location') ?? '')
  const [reopenedRun = '', retriedRun = ''] = await Promise.all(paths.map(text))
  expect(reopenedRun).toContain('ledger forget')
  expect(reopenedRun).toContain('status page, from 127.0.0.1')
  expect(retriedRun).toMatch(/data-label="Quarantined"[^>]*><div>1</)

  const { rows } = await sql<{ command: string; by: string | null; outcome: { forgotten?: { stream: string }[] } }>`
    select command, settings ->> 'askedBy' as by, outcome from livehouse_ops.runs order by run_id`.execute(database.db)
  expect(rows.map((row) => [row.command, row.by])).toEqual([
    ['sync', null],
    ['run lists', by],
    ['ledger forget', by],
    ['quarantine retry', by],
  ])
  expect(rows[2]?.outcome.forgotten?.map(({ stream }) => stream)).toEqual(['gifts', 'gifts'])
  expect(await text(`/channels/${first}`)).toMatch(/2020-01-02<.span> – <span class="bound">2020-01-03/)
  expect(await text('/runs?command=run+lists')).not.toContain('ledger forget</bdi>')
  await stop()
})

test('a run is cancelled from its page, and its job ends', async () => {
  emulator.faults.push({ effect: hang(), endpoint: 'managers' })
  const { child, text, post, stop } = await startServe()
  const csrf = csrfOf(await text('/'))
  await post('/actions/run', { csrf, job: 'lists' })
  await child.whileRunning(untilRow(database.db, heldPartitions))
  expect(await text('/runs/1')).toMatch(/action="\/actions\/cancel"[^]*name="run" value="1"/)
  const cancelled = await post('/actions/cancel', { csrf, run: '1' })
  expect([cancelled.status, cancelled.headers.get('location')]).toEqual([303, '/runs/1'])
  await child.untilOutput('"job.ended"')
  await child.whileRunning(untilRow(database.db, sql`select where not exists (${heldPartitions})`))
  expect((await post('/actions/cancel', { csrf, run: '1' })).status).toBe(409)
  const { rows } =
    await sql`select command, status, settings ->> 'askedBy' as by, outcome #>> '{errors,0,code}' as error
    from livehouse_ops.runs order by run_id`.execute(database.db)
  expect(rows).toEqual([
    { command: 'run lists', status: 'partial', by, error: 'run.interrupted' },
    { command: 'run cancel', status: 'ok', by, error: null },
  ])
  await stop()
})

test('one failed channel of five shows as one linked sentence and a red cap on otherwise green days', async () => {
  const [, , third = ''] = emulator.channelIds
  emulator.faults.push({ effect: answers(403), endpoint: 'userRecordList', channelId: third })
  await runSync()
  await using status = await startTestStatusServer(database)
  const page = await status.text('/')
  const verdict = sectionOf(page, 'verdict')
  expect(verdict.match(/<li>/g)).toHaveLength(1)
  expect(verdict).toContain('short or failed in 1 of 5 channels: ')
  expect(verdict).toContain(`href="/channels/${third}"`)
  const coverage = sectionOf(page, 'coverage')
  expect(coverage).toMatch(/4 of 5 channels until \d/)
  expect(coverage).toMatch(/: 80 % read, short or failed/)
  // Four fifths of the 24 pixels are green.
  expect(coverage).toContain('<rect class="day problem" x="0" y="0" width="10" height="5"/>')
  expect(coverage).toContain('<rect class="day complete" x="0" y="5" width="10" height="19"/>')
  const wholeLists = streams.filter(({ isTimeFiltered }) => !isTimeFiltered)
  expect(coverage.match(/A whole list each time, last read/g)).toHaveLength(wholeLists.length)
  expect(await status.text(`/channels/${third}`)).toMatch(/facets"><span class="mark calm".*<div>not to the end yet</s)
  const counts = sectionOf(page, 'streams').matchAll(/data-label="Rows"[^>]*><div>([\d,]+)</g)
  const sum = counts.reduce((total, [, text = '']) => total + Number(text.replaceAll(',', '')), 0)
  expect(sectionOf(page, 'figures')).toContain(`<dd>${sum.toLocaleString('en')} <small>`)
})

test('a run that workers share shows its progress, and each part with the process that reads it', async () => {
  emulator.faults.push({ effect: hang(), endpoint: 'giftRunning' })
  const settings = { ...environment(), LOG_LEVEL: 'info' }
  const workers = ['3', '4'].map((count) => startChild(['worker', '--concurrency', count], settings))
  for (const worker of workers) await worker.untilOutput('"worker.started"')
  const child = startChild(['sync', '--queue', '--streams', 'visitors,gifts'], settings)
  // A partition that another run holds is not part of this one.
  await using other = new Leases(database.db)
  await other.tryTake('partition managers account', { forRun: '99' })
  await using status = await startTestStatusServer(database)
  const shown = async (path: string, id: string) => sectionOf(await status.text(path), id)
  const readWorkers = async () => {
    const section = await shown('/runs/1', 'workers')
    expect(section.match(/Gifts <small>/g)).toHaveLength(7)
    return section
  }
  const held = await child.whileRunning(vi.waitFor(readWorkers, 60_000))
  expect(held).toContain('Parts being read: 7; processes: 2.')
  expect(held).not.toContain('Managers')
  expect(workers.map(({ process: { pid } }) => held.match(new RegExp(`process ${pid}<`, 'g'))?.length)).toEqual([3, 4])
  // The plan is on record about two seconds later.
  const planned = async () =>
    expect(await shown('/', 'progress')).toMatch(/<progress max="100" value="\d+".*0 of 10 parts/s)
  await child.whileRunning(vi.waitFor(planned, 60_000))
  // How many of its rows are new is not known yet.
  expect(await shown('/', 'runs')).toMatch(/data-label="New"[^>]*><div>–</)
  for (const each of [child, ...workers]) {
    each.process.kill('SIGKILL')
    await each.ended
  }
})

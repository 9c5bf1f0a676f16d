import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { finishRun, startRun } from '../../src/ledger/runs/runs.ts'
import { fieldValue, refusal } from '../helpers/fault-effects.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'
import { startTestStatusServer } from '../helpers/status-server.ts'

test('no page shows personal data of a viewer, not even in errors', async () => {
  await using pipeline = await startPipeline()
  const { db } = pipeline.database
  await pipeline.sync()
  // Every visitor of the first channel is unreadable: the reasons quote what came in place of their ids.
  const [first = ''] = pipeline.emulator.channelIds
  const value = { nick: '某某某', phone: '13987654321' }
  pipeline.emulator.faults.push({ effect: fieldValue('user_id', value), endpoint: 'visitorList', channelId: first })
  // Error texts of the service may quote values as well.
  const refused = { effect: refusal(403_001, 'no viewer "某某某" here'), endpoint: 'giftRunning', channelId: first }
  pipeline.emulator.faults.push(refused)
  const { errors } = await pipeline.sync({ streams: ['visitors', 'gifts'] })
  expect(JSON.stringify(errors)).toContain('139********')
  const at = new Date(pipeline.clock.nowMs)
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt: at })
  await finishRun(db, runId, { status: 'partial', finishedAt: at, resumesAt: null, outcome: { streams: {}, errors } })

  const { rows } = await sql<{ value: string }>`
    select distinct value from livehouse.visitors, unnest(array[nickname, phone, user_id, address, host(last_ip)]) as value
    where length(value) > 3 union select visitor_name from livehouse.gifts where length(visitor_name) > 3`.execute(db)
  const personal = [...rows.map((row) => row.value), '某某某', '13987654321']
  expect(personal.length).toBeGreaterThan(200)

  const clock = { ...systemClock, now: () => pipeline.clock.nowMs }
  await using status = await startTestStatusServer(pipeline.database, { clock })
  const ofOne = [`/channels/${first}`, `/runs/${runId}`]
  for (const path of ['/', '/channels', '/runs', '/quarantine', '/metrics', '/readyz', ...ofOne]) {
    const page = await status.text(path)
    expect(page.length, path).toBeGreaterThan(50)
    const leaks = personal.filter((each) => page.includes(each))
    expect(leaks, path).toEqual([])
  }
  expect(await status.text(`/runs/${runId}`)).toContain('could not be read: user_id is {…:…')
  expect(await status.text(`/channels/${first}`)).toContain('could not be read: user_id is {…:…')
})

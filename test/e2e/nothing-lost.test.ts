import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { connectionReset, fieldValue, ignoredTimeFilter, noRows, refusal } from '../helpers/fault-effects.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

const DAY_MS = 86_400_000

test('a lookback that fails is read again, also when newer ranges have landed since', async () => {
  await using pipeline = await startPipeline({ channels: 1, viewers: 60 })
  const { emulator, clock } = pipeline
  await pipeline.sync({ streams: ['watch_records'] })
  const [channelId = ''] = emulator.channelIds
  const { records } = emulator.world.channels.get(channelId) ?? {}
  const young = records?.rows.filter(({ enteredAt }) => enteredAt * 1000 > clock.nowMs - 2 * DAY_MS) ?? []
  expect(young.length).toBeGreaterThan(0)
  for (const record of young) records?.replace(record, { ...record, nick: 'changed later' })

  clock.nowMs += 5 * DAY_MS
  emulator.faults.push({ effect: refusal(400001), endpoint: 'userRecordList' })
  expect(await pipeline.sync({ streams: ['watch_records'] })).toMatchObject({ status: 'partial' })
  emulator.faults.length = 0
  // As if the newest part had landed while the lookback before it had failed.
  const last = `${new Date(clock.nowMs + 8 * 3_600_000 - 3_600_000).toISOString().slice(0, 14)}00:00`
  await sql`insert into livehouse_ops.slices (run_id, stream, partition, reads, covers, status, proof, distinct_rows, quarantined_rows,
      calls, retries, started_at, finished_at)
    values (1, 'watch_records', ${`channel=${channelId}`}, tsrange(${last.replace('T', ' ')}::timestamp - interval '1 hour', ${last.replace('T', ' ')}),
      tsrange(${last.replace('T', ' ')}::timestamp - interval '1 hour', ${last.replace('T', ' ')}), 'landed', 'verified', 0, 0, 1, 0,
      ${new Date(clock.nowMs)}, ${new Date(clock.nowMs)})`.execute(pipeline.database.db)
  expect(await pipeline.sync({ streams: ['watch_records'] })).toMatchObject({ status: 'ok' })
  await expectTruth(pipeline, ['watch_records'])
})

test('a service that ignores the time filter of a large list is asked no more, not in thousands of slices', async () => {
  await using pipeline = await startPipeline({ channels: 1, viewers: 3500 })
  pipeline.emulator.faults.push({ effect: ignoredTimeFilter(), endpoint: 'userRecordList' })
  const result = await pipeline.sync({ streams: ['watch_records'], pageSize: 10 })
  expect(result.status).toBe('partial')
  expect(new Set(result.errors.map(({ code }) => code))).toEqual(new Set(['paging.ignored']))
  expect(pipeline.emulator.calls.length).toBeLessThan(30)
})

test('one endpoint that resets its connections does not end the run of the others', async () => {
  await using pipeline = await startPipeline()
  pipeline.emulator.faults.push({ effect: connectionReset(), endpoint: 'giftRunning' })
  const result = await pipeline.sync()
  expect(result.status).toBe('partial')
  expect(new Set(result.errors.map(({ stream }) => stream))).toEqual(new Set(['gifts']))
  await expectTruth(pipeline, ['visitors', 'watch_records', 'questionnaires', 'signups', 'managers', 'manager_usage'])
})

test('a visitor who comes as what cannot be read is not marked removed', async () => {
  await using pipeline = await startPipeline()
  await pipeline.sync({ streams: ['visitors'] })
  pipeline.emulator.faults.push({ effect: fieldValue('id', 77, 0), endpoint: 'visitorList' })
  for (let run = 0; run < 3; run++) await pipeline.sync({ streams: ['visitors'] })
  const { rows } = await sql`select user_id from livehouse.visitors where removed_at is not null`.execute(
    pipeline.database.db,
  )
  expect(rows).toEqual([])
})

test('a channel takes its name from its own visitors alone', async () => {
  await using pipeline = await startPipeline()
  const { faults } = pipeline.emulator
  faults.push({ effect: fieldValue('id', 77, 0), endpoint: 'visitorList' })
  faults.push({ effect: fieldValue('name', 'ANOTHER CHANNEL', 0), endpoint: 'visitorList' })
  await pipeline.sync({ streams: ['visitors'] })
  const names = await pipeline.database.db.selectFrom('livehouse.channels').select('name').execute()
  expect(names.map(({ name }) => name)).not.toContain('ANOTHER CHANNEL')
  expect(names.every(({ name }) => name !== null)).toBe(true)
})

test('a list of questionnaires that is suddenly empty does not skip their signups', async () => {
  await using pipeline = await startPipeline()
  await pipeline.sync()
  pipeline.emulator.faults.push({ effect: noRows(), endpoint: 'getQuestionList' })
  const result = await pipeline.sync()
  expect(result.streams.signups?.counts.calls).toBeGreaterThan(0)
  await expectTruth(pipeline, ['signups'])
})

test('a sync of the account alone, without LIVEHOUSE_CHANNELS, retires no channel', async () => {
  await using pipeline = await startPipeline()
  await pipeline.sync()
  const { LIVEHOUSE_CHANNELS: _, ...environment } = environmentOf(pipeline.emulator, pipeline.database)
  expect(await runVerb(sync, ['--streams', 'managers'], { environment })).toMatchObject({ code: 0 })
  const states = await pipeline.database.db.selectFrom('livehouse.channels').select('state').execute()
  expect(states.map(({ state }) => state)).toEqual(['active', 'active'])
})

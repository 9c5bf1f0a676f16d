import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import type { FetchPage } from '../../src/core/page.ts'
import type { Fault, FaultEffect } from '../../src/emulator/faults.ts'
import {
  changedRows,
  changingTotal,
  connectionReset,
  fieldValue,
  foreignRow,
  ignoredPage,
  ignoredTimeFilter,
  missingRow,
  noRows,
  refusal,
} from '../helpers/fault-effects.ts'
import { firstChannel } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

const pipeline = ofTest(() => startPipeline())

test('a lookback that fails is read again, even if newer ranges have landed since', async () => {
  const { emulator, clock } = pipeline
  await pipeline.sync({ streams: ['watch_records'] })
  const { id, records } = firstChannel(emulator)
  const young = records.rows.filter(({ enteredAt }) => enteredAt * 1000 > clock.nowMs - 2 * 86_400_000)
  expect(young.length).toBeGreaterThan(0)
  for (const record of young) records.replace(record, { ...record, nick: 'changed later' })

  clock.passHours(5 * 24)
  emulator.faults.push({ effect: refusal(400001), endpoint: 'userRecordList' })
  expect(await pipeline.sync({ streams: ['watch_records'] })).toMatchObject({ status: 'partial' })
  emulator.faults.length = 0
  // As if the newest part had landed while the lookback before it had failed.
  const now = new Date(clock.nowMs)
  await sql`insert into livehouse_ops.slices (run_id, stream, partition, reads, covers, status, proof, distinct_rows, quarantined_rows,
      calls, retries, started_at, finished_at)
    select 1, 'watch_records', ${`channel=${id}`}, newest, newest, 'landed', 'verified', 0, 0, 1, 0, ${now}, ${now}
    from date_trunc('hour', ${now}::timestamptz at time zone 'Asia/Shanghai') as hour,
      tsrange(hour - interval '2 hours', hour - interval '1 hour') as newest`.execute(pipeline.database.db)
  expect(await pipeline.sync({ streams: ['watch_records'] })).toMatchObject({ status: 'ok' })
  await pipeline.expectTruth(['watch_records'])
})

test('a service that ignores the time filter of a large list is given up after few calls', async () => {
  await using large = await startPipeline({ channels: 1, viewers: 3500 })
  large.emulator.faults.push({ effect: ignoredTimeFilter(), endpoint: 'userRecordList' })
  const result = await large.sync({ streams: ['watch_records'], pageSize: 10 })
  expect(result.status).toBe('partial')
  expect(new Set(result.errors.map(({ code }) => code))).toEqual(new Set(['paging.ignored']))
  // Of some 400 pages. How many are requested ahead depends on how busy the machine is: 18 to 32 calls were seen.
  expect(large.emulator.calls.length).toBeLessThan(50)
})

test('an interruption is reported once, not for each slice', async () => {
  const controller = new AbortController()
  const fetchPage: FetchPage = async (request, context) => {
    controller.abort(new LivehouseError('run.interrupted', 'interrupted by SIGINT', { signal: 'SIGINT' }))
    return await pipeline.fetchPage(request, context)
  }
  const { log, lines } = createRecordingLog()
  const { errors } = await pipeline.sync({ fetchPage, log, signal: controller.signal })
  expect(errors.map(({ code }) => code)).toEqual(['run.interrupted'])
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([])
})

test('a channel takes its name only from its own visitors', async () => {
  pipeline.emulator.faults.push({ effect: fieldValue('id', 77, 0), endpoint: 'visitorList' })
  pipeline.emulator.faults.push({ effect: fieldValue('name', 'ANOTHER CHANNEL', 0), endpoint: 'visitorList' })
  await pipeline.sync({ streams: ['visitors'] })
  const names = await pipeline.database.db.selectFrom('livehouse.channels').select('name').execute()
  expect(names.map(({ name }) => name)).not.toContain('ANOTHER CHANNEL')
  expect(names.every(({ name }) => name !== null)).toBe(true)
})

test('a sync of account streams without LIVEHOUSE_CHANNELS retires no channel', async () => {
  await pipeline.sync()
  const { LIVEHOUSE_CHANNELS: _, ...environment } = environmentOf(pipeline.emulator, pipeline.database)
  expect(await runVerb(sync, ['--streams', 'managers'], { environment })).toMatchObject({ code: 0 })
  const states = await pipeline.database.db.selectFrom('livehouse.channels').select('state').execute()
  expect(states.map(({ state }) => state)).toEqual(['active', 'active'])
})

/** Reads visitors with `effect` on the first channel. @returns the quarantined items, and whether each is resolved */
async function readQuarantine(effect?: FaultEffect, { emulator, database, sync }: TestPipeline = pipeline) {
  const [channelId = ''] = emulator.channelIds
  emulator.faults.length = 0
  if (effect) emulator.faults.push({ effect, endpoint: 'visitorList', channelId })
  await sync({ streams: ['visitors'] })
  const items = await database.db.selectFrom('livehouse_ops.quarantine').select(['raw', 'resolved_at']).execute()
  return items.map(({ raw, resolved_at }) => [raw, resolved_at !== null])
}

test('an unreadable item is resolved when a proven walk lacks it, and reopened when it is back', async () => {
  expect(await readQuarantine(foreignRow('stray'))).toEqual([['"stray"', false]])
  expect(await readQuarantine()).toEqual([['"stray"', true]])
  expect(await readQuarantine(foreignRow('stray'))).toEqual([['"stray"', false]])
})

test('a reading resolves only unreadable items of its own list', async () => {
  const { emulator, database, sync } = pipeline
  const [channelId = '', other = ''] = emulator.channelIds
  const strayOf = (id: string) => ({ effect: foreignRow(`stray ${id}`), endpoint: 'visitorList', channelId: id })
  emulator.faults.push(strayOf(channelId), strayOf(other))
  await sync({ streams: ['visitors'] })
  emulator.faults.splice(0, 2, { effect: refusal(400001), endpoint: 'visitorList', channelId: other })
  await sync({ streams: ['visitors'] })
  const waiting = database.db.selectFrom('livehouse_ops.quarantine').select('raw').where('resolved_at', 'is', null)
  expect(await waiting.execute()).toEqual([{ raw: `"stray ${other}"` }])
})

test.each([
  ['a walk that falls short', missingRow(0)],
  ['an empty answer', noRows()],
])('%s resolves nothing in quarantine', async (_name, effect) => {
  await using small = await startPipeline({ viewers: 10 })
  await readQuarantine(foreignRow('stray'), small)
  expect(await readQuarantine(effect, small)).toEqual([['"stray"', false]])
})

function breakVisitors(effect: FaultEffect, calls: Pick<Fault, 'page' | 'times'> = {}): void {
  const [channelId = ''] = pipeline.emulator.channelIds
  pipeline.emulator.faults.push({ effect, endpoint: 'visitorList', channelId, ...calls })
}

test.each([
  ['a token that is refused', refusal(401001), 'api.unauthorized'],
  ['a service that is out of reach', connectionReset(), 'api.unreachable'],
])('%s fails the run, and is reported once', async (_, effect, code) => {
  pipeline.emulator.faults.push({ effect })
  expect(await pipeline.sync()).toMatchObject({ status: 'failed', errors: [{ code }] })
})

test('a service lost during a run ends it after twenty calls, each tried five times or more, and not before', async () => {
  await using large = await startPipeline({ channels: 30, viewers: 1 })
  large.emulator.faults.push({ effect: connectionReset(), endpoint: 'signupRecord' })
  const { streams } = await large.sync({ streams: ['questionnaires', 'signups'] })
  expect(streams['signups']?.slices.failed).toBeGreaterThan(60)
  // Calls that are under way at that time are not retried.
  expect(streams['signups']?.counts.calls).toSatisfy((calls: number) => calls >= 100 && calls < 120)

  const effect = connectionReset()
  const asked = [...large.emulator.world.channels.values()].filter(({ questionnaires: { rows } }) => rows.length > 0)
  const lostIds = asked.filter((_, place) => place % 2 === 0).map(({ id }) => id)
  large.emulator.faults.splice(0, 1, ...lostIds.map((channelId) => ({ effect, endpoint: 'signupRecord', channelId })))
  const { errors } = await large.sync({ streams: ['questionnaires', 'signups'] })
  expect(new Set(errors.map(({ partition }) => /\d+/.exec(partition ?? '')?.[0]))).toEqual(new Set(lostIds))
})

test('too many unreadable rows fail a slice with samples and are kept; a higher limit lands the others', async () => {
  breakVisitors(changedRows((item, index) => (index < 30 ? { ...Object(item), user_id: '' } : item)))
  const options = { streams: ['visitors'] }
  const { status: ended, errors } = await pipeline.sync({ ...options, maxUnreadablePercent: 49.9 })
  expect([ended, errors]).toMatchObject(['partial', [{ code: 'rows.unreadable' }]])
  expect(errors[0]?.message).toMatch(/user_id is "".*raise LIVEHOUSE_MAX_UNREADABLE_PERCENT \(now 49\.9\)/s)
  const quarantined = pipeline.database.db.selectFrom('livehouse_ops.quarantine').select('raw')
  expect(await quarantined.execute()).toHaveLength(30)
  const result = await pipeline.sync({ ...options, maxUnreadablePercent: 50 })
  expect(result).toMatchObject({ status: 'ok', streams: { visitors: { counts: { inserted: 30, quarantined: 30 } } } })
})

test('a list with fewer rows than its smallest total is short, however the total moves', async () => {
  breakVisitors({ ...changingTotal(), query: (query) => ({ ...query, page: 1, pageSize: 25 }) })
  const result = await pipeline.sync({ streams: ['visitors'], pageSize: 25 })
  expect(result).toMatchObject({ status: 'partial', streams: { visitors: { slices: { moving: 0, short: 1 } } } })
})

test('rows of a moving list that share a key count as received', async () => {
  const { visitors } = firstChannel(pipeline.emulator)
  visitors.add(...visitors.rows.slice(0, 40).map((row) => ({ ...row, nick: 'again', lastOnlineAt: 1_700_000_000 })))
  breakVisitors(changingTotal())
  expect(await pipeline.sync({ streams: ['visitors'], pageSize: 25 })).toMatchObject({
    status: 'ok',
    streams: { visitors: { slices: { verified: 1, moving: 1, short: 0 } } },
  })
})

// A repeated page of one row shows nothing by itself.
test.each([
  ['of 25 rows', 25],
  ['of one row that says so', 1],
])('an ignored page %s of a list with a total is an error, not page 1 over and over', async (_, pageSize) => {
  breakVisitors(ignoredPage(pageSize === 1))
  const result = await pipeline.sync({ streams: ['visitors'], pageSize })
  expect(result).toMatchObject({ status: 'partial', errors: [{ code: 'paging.ignored' }] })
  // Only the pages requested ahead, and not ten readings of the list.
  expect(pipeline.emulator.calls.length).toBeLessThan(100)
})

test('page 1 in place of page 2 in a single answer is no ignored page: the list is read again', async () => {
  breakVisitors(ignoredPage(), { page: 2, times: 1 })
  expect(await pipeline.sync({ streams: ['visitors'], pageSize: 25 })).toMatchObject({ status: 'ok' })
  await pipeline.expectTruth(['visitors'])
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../../src/cli/run.ts'
import { status } from '../../../src/cli/status.ts'
import { sync } from '../../../src/cli/sync.ts'
import type { JobDefinition } from '../../../src/core/define-job.ts'
import { wallTimeAt } from '../../../src/core/wall-clock.ts'
import type { Channel } from '../../../src/emulator/world/world.ts'
import { expectTruth } from '../../helpers/expect-truth.ts'
import { startAccount, type TestAccount } from '../../helpers/start-account.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const DAY_MS = 86_400_000
const folder = createTemporaryFolder('jobs')
let account: TestAccount
let channels: readonly Channel[]

beforeEach(async () => {
  account = await startAccount({ viewers: 150 })
  channels = [...account.emulator.world.channels.values()]
})
afterEach(async () => await account[Symbol.asyncDispose]())

/** Runs a job of this definition; returns what it says of its streams. */
async function runJob(definition: Omit<Extract<JobDefinition, { kind?: 'sync' }>, 'cron'>) {
  // Each has a file of its own: one that has been loaded is not read again.
  const name = `job-${Math.random().toString(36).slice(2)}`
  const text = `export default ${JSON.stringify({ cron: '@daily', ...definition })}`
  writeFileSync(join(folder, `${name}.ts`), text)
  const { printed, code } = await account.run(run, [name, '--json'], { LIVEHOUSE_JOBS_DIR: folder })
  expect(code).toBe(0)
  return JSON.parse(printed.join('\n')).streams
}

/** How far back the slices of the last run read, in hours; and how far what they cover lies back, in minutes. */
async function readLastReach(stream: string) {
  // From when the run began: waiting for its turn moves the clock as well.
  const { rows } = await sql<{ hours: string; minutes: string }>`
    select extract(epoch from began - min(lower(reads))) / 3600 as hours,
      extract(epoch from began - max(upper(covers))) / 60 as minutes
    from livehouse_ops.slices cross join lateral (
      select started_at at time zone 'Asia/Shanghai' as began from livehouse_ops.runs where runs.run_id = slices.run_id) as run
    where stream = ${stream} and run_id = (select max(run_id) from livehouse_ops.slices) group by began`.execute(
    account.database.db,
  )
  return { hours: Math.round(Number(rows[0]?.hours)), minutes: Math.round(Number(rows[0]?.minutes)) }
}

test('a lookback of its own reads less or more, and takes nothing from the lookback of others', async () => {
  const begin = account.clock.nowMs
  await account.run(sync)
  account.clock.nowMs = begin + 3_600_000
  await runJob({ streams: ['watch_records'], lookbackDays: { watch_records: 0 } })
  expect(await readLastReach('watch_records')).toEqual({ hours: 1, minutes: 5 })
  account.clock.nowMs = begin + 7_200_000
  await runJob({ streams: ['watch_records'] })
  expect(await readLastReach('watch_records')).toMatchObject({ hours: 74 })
  account.clock.nowMs = begin + 7_200_000
  await runJob({ streams: ['watch_records'], lookbackDays: { watch_records: 7 } })
  expect(await readLastReach('watch_records')).toMatchObject({ hours: 170 })
})

test('what is younger than its settle time lands and is not covered', async () => {
  await runJob({ streams: ['gifts', 'watch_records'], settleMinutes: { gifts: 90, watch_records: 1 } })
  expect(await readLastReach('gifts')).toMatchObject({ minutes: 90 })
  expect(await readLastReach('watch_records')).toMatchObject({ minutes: 1 })
})

test('the history is read again within so many days', async () => {
  await account.run(sync)
  const [channel] = channels
  const [oldest] = [...(channel?.records.rows ?? [])].sort((a, b) => a.enteredAt - b.enteredAt)
  if (!channel || !oldest) throw new Error('the world is empty')
  channel.records.replace(oldest, { ...oldest, nick: 'edited long after' })
  account.clock.nowMs += DAY_MS
  await runJob({ streams: ['watch_records'] })
  await expect(expectTruth(account, ['watch_records'])).rejects.toThrow('watch_records')
  for (let night = 0; night < 3; night++) {
    account.clock.nowMs += DAY_MS
    await runJob({ streams: ['watch_records'], rereadDays: 3 })
  }
  await expectTruth(account, ['watch_records'])
})

describe('lists of visitors that have not changed', () => {
  const walk = { visitorWalk: { skipUnchanged: true, atLeastEveryDays: 1000 } }
  const slices = async (definition = {}) => {
    const { visitors } = await runJob({ streams: ['visitors', 'watch_records'], ...walk, ...definition })
    const { verified, assumed = 0 } = visitors.slices
    return { verified, assumed, calls: visitors.calls }
  }
  const change: Readonly<Record<string, (channel: Channel) => void>> = {
    'a new watch record': ({ records }) => {
      const [record] = records.rows
      const at = wallTimeAt(account.clock.nowMs, 'Asia/Shanghai') - 7200
      if (record) records.add({ ...record, recordId: '999999', enteredAt: at, leftAt: at + 60 })
    },
    'another first page': ({ visitors }) => {
      const first = visitors.rows.reduce((a, b) => (a.lastOnlineAt > b.lastOnlineAt ? a : b))
      visitors.replace(first, { ...first, shareTimes: first.shareTimes + 1 })
    },
    'another total': ({ visitors }) => {
      const last = visitors.rows.reduce((a, b) => (a.lastOnlineAt < b.lastOnlineAt ? a : b))
      visitors.remove(last)
    },
  }
  beforeEach(async () => {
    // Nobody is online any more.
    account.clock.nowMs += 3_600_000
    const { verified } = await slices()
    if (verified !== 2) throw new Error('the first walks are not verified')
    account.clock.nowMs += DAY_MS
  })

  test('are assumed, with one call each, and never said to be verified', async () => {
    expect(await slices()).toEqual({ verified: 0, assumed: 2, calls: 2 })
    const { printed } = await account.run(status, ['--json', '--max-age', '2h'])
    const { streams, shortfalls, stale } = JSON.parse(printed.join('\n'))
    expect(streams.visitors).toMatchObject({ last_proof: 'assumed', partitions: { verified: 0, assumed: 2 } })
    expect(shortfalls).toEqual([])
    expect(stale).not.toContain('visitors')
    const marked = await sql`select from livehouse_ops.slices where status = 'assumed' and proof = 'assumed'`.execute(
      account.database.db,
    )
    expect(marked.rows).toHaveLength(2)
  })

  test.each(Object.keys(change))('are read where there is %s', async (name) => {
    const [channel] = channels
    if (channel) change[name]?.(channel)
    expect(await slices()).toMatchObject({ verified: 1, assumed: 1 })
    const { rows } = await sql<{ partition: string }>`select partition from livehouse_ops.slices
      where stream = 'visitors' and proof = 'verified' order by slice_id desc limit 1`.execute(account.database.db)
    expect(rows).toEqual([{ partition: `channel=${channel?.id}` }])
    // A row that is gone is marked when two readings miss it.
    if (name !== 'another total') await expectTruth(account, ['visitors'])
  })

  test('are read where watch records do not show that nobody came', async () => {
    expect(await slices({ streams: ['visitors'] })).toMatchObject({ verified: 2, assumed: 0 })
  })

  test('are read by a job that does not ask to leave them out, and by sync', async () => {
    expect(await slices({ visitorWalk: { skipUnchanged: false, atLeastEveryDays: 7 } })).toMatchObject({ verified: 2 })
    expect((await account.run(sync, ['--streams', 'visitors'])).printed.join()).toContain('2 verified')
  })

  test('are read when their day has come, and after a reading that proved nothing', async () => {
    expect(await slices({ visitorWalk: { skipUnchanged: true, atLeastEveryDays: 1 } })).toMatchObject({ verified: 2 })
    await sql`update livehouse_ops.slices set status = 'failed', proof = 'short' where slice_id in (
      select max(slice_id) from livehouse_ops.slices where stream = 'visitors')`.execute(account.database.db)
    await sql`update livehouse_ops.walk_marks set walked_at = walked_at - interval '1 minute'`.execute(
      account.database.db,
    )
    account.clock.nowMs += DAY_MS
    expect(await slices()).toMatchObject({ verified: 2, assumed: 0 })
  })
})

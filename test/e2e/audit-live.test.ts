import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { startFilled } from '../helpers/start-filled.ts'

const HOUR = 3600

test('a row that was always at the source and is not here is found; one that is new since the last sync is no difference', async () => {
  await using account = await startFilled()
  const { channel, text, json, clock } = account
  const now = Math.floor(clock.nowMs / 1000) + 8 * HOUR
  const [record] = channel.records.rows
  const [visitor] = channel.visitors.rows
  if (!record || !visitor) throw new Error('the world is empty')
  // Both within what is covered by their entry, but still there when they were last read.
  channel.records.add({ ...record, recordId: '900000001', enteredAt: now - 3 * HOUR, leftAt: now - HOUR + 60 })
  channel.visitors.add({ ...visitor, userId: 'new', firstLoginAt: now - HOUR / 2, lastOnlineAt: now - HOUR / 2 })
  const quiet = await text('--streams', 'visitors,watch_records')
  expect(quiet).toMatchObject({ code: 0 })
  expect(quiet.out.match(/new or still changing since the last reading: 1/g)).toHaveLength(2)

  channel.records.add({ ...record, recordId: '900000002', enteredAt: now - 30 * HOUR, leftAt: now - 29 * HOUR })
  channel.visitors.add({ ...visitor, userId: 'old', firstLoginAt: now - 30 * HOUR, lastOnlineAt: now - 29 * HOUR })
  const { audit: found } = await json('--streams', 'visitors,watch_records')
  expect(found.partitions).toMatchObject([
    { stream: 'visitors', verdict: 'different', differences: [{ kind: 'missing', keys: ['old'] }] },
    { verdict: 'equal' },
    { stream: 'watch_records', verdict: 'different', differences: [{ kind: 'missing', keys: ['900000002'] }] },
    { verdict: 'equal' },
  ])
})

test('by the time that moves, a viewer who stays on is no difference', async () => {
  await using account = await startFilled()
  const { channel, text, emulator, clock } = account
  emulator.switches.recordFilterTime = 'leave'
  // The last that had left within what is covered, up to an hour and five minutes ago.
  const covered = Math.floor(clock.nowMs / 1000) + 8 * HOUR - HOUR - 300
  const latest = channel.records.rows.toSorted((a, b) => b.leftAt - a.leftAt).find(({ leftAt }) => leftAt < covered)
  if (!latest) throw new Error('the world is empty')
  channel.records.replace(latest, { ...latest, leftAt: Math.floor(clock.nowMs / 1000) + 8 * HOUR - 60 })
  const { code, out } = await text('--streams', 'watch_records')
  expect(out).not.toContain('✗')
  expect(code).toBe(0)
})

test.each(['entry', 'leave'] as const)(
  'a channel that is never without a viewer is green, and rows that it lacks are found, counted by %s',
  async (recordFilterTime) => {
    await using account = await startFilled()
    const { channel, text, json, emulator, clock, change, run } = account
    emulator.switches.recordFilterTime = recordFilterTime
    const now = Math.floor(clock.nowMs / 1000) + 8 * HOUR
    const [record] = channel.records.rows
    if (!record) throw new Error('the world is empty')
    channel.records.add({ ...record, recordId: '900000001', enteredAt: now - 72 * HOUR, leftAt: now - 60 })
    await run(sync, ['--streams', 'watch_records'])
    expect(await text('--streams', 'watch_records')).toMatchObject({ code: 0 })
    await change(sql`delete from livehouse.watch_records where record_id = (
      select min(record_id) from livehouse.watch_records where channel_id = ${channel.id})`)
    const { audit: found } = await json('--streams', 'watch_records')
    expect(found.partitions).toContainEqual(expect.objectContaining({ verdict: 'different' }))
  },
)

test('hundreds of visits that show only when they have ended are read, and are no difference', async () => {
  await using account = await startFilled()
  const { channel, text, clock } = account
  const now = Math.floor(clock.nowMs / 1000) + 8 * HOUR
  const [record] = channel.records.rows
  if (!record) throw new Error('the world is empty')
  // They came in one minute of what the last sync covers, and had not left by then.
  for (let number = 0; number < 800; number++) {
    const enteredAt = now - 2 * HOUR + (number % 60)
    channel.records.add({ ...record, recordId: `${900_000_000 + number}`, enteredAt, leftAt: now - HOUR + number })
  }
  const { code, out } = await text('--streams', 'watch_records')
  expect(out).not.toContain('✗')
  expect(out).toMatch(/new or still changing since the last reading: \d+/)
  expect(code).toBe(0)
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { environmentOf } from '../helpers/run-verb.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

test('a CSV file of channels lands with labels, groups, dates and test flag; taken out they are retired, put back active', async () => {
  await using pipeline = await startPipeline({ viewers: 20 })
  const { database, emulator, clock } = pipeline
  const { db } = database
  const [first = '', second = ''] = emulator.channelIds
  const path = join(createTemporaryFolder('csv'), 'channels.csv')
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_CHANNELS: `@${path}` }
  const run = async (...lines: readonly string[]) => {
    writeFileSync(path, ['channel_id,label,group,from,until,is_test', ...lines].join('\n'))
    const { context } = createTestContext({ environment, clock: { now: () => clock.nowMs, sleep: async () => {} } })
    expect(await sync.run(context, ['--streams', 'visitors,watch_records'])).toBe(0)
    return await db
      .selectFrom('livehouse.channels')
      .select(['channel_id', 'label', 'channel_group', 'is_test', 'state'])
      .orderBy('channel_id')
      .execute()
  }
  const one = { channel_id: first, label: 'Town hall, "big"', channel_group: '内部', is_test: true, state: 'active' }
  const two = { channel_id: second, label: null, channel_group: null, is_test: false, state: 'active' }
  const lineOne = `${first},"Town hall, ""big""",内部,2026-11-17,2026-11-18,yes`
  expect(await run(lineOne, `${second},,,,,`)).toEqual([one, two])

  const ranges = await db
    .selectFrom('livehouse_ops.slices')
    .select(['partition', 'covers'])
    .where('stream', '=', 'watch_records')
    .orderBy('covers')
    .execute()
  expect(ranges.filter(({ partition }) => partition === `channel=${first}`).map(({ covers }) => covers)).toEqual([
    '["2026-11-17 00:00:00","2026-11-19 00:00:00")',
  ])
  expect(ranges.find(({ partition }) => partition === `channel=${second}`)?.covers).toMatch(/^\["2015-01-01 00:00:00"/)

  expect(await run(`${second},Renamed,,,,yes`)).toEqual([
    { ...one, state: 'retired' },
    { ...two, label: 'Renamed', is_test: true },
  ])
  expect(await run(lineOne, `${second},,,,,`)).toEqual([one, two])
})

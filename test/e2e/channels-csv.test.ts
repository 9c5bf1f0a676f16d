import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

test('a CSV file of channels lands with labels, groups, dates and test flag; taken out they are retired, put back active', async () => {
  await using account = await startAccount({ viewers: 20 })
  const { db } = account.database
  const [first = '', second = ''] = account.emulator.channelIds
  const path = join(createTemporaryFolder('csv'), 'channels.csv')
  const run = async (...lines: readonly string[]) => {
    writeFileSync(path, ['channel_id,label,group,from,until,is_test', ...lines].join('\n'))
    const argv = ['--streams', 'visitors,watch_records']
    expect(await account.run(sync, argv, { LIVEHOUSE_CHANNELS: `@${path}` })).toMatchObject({ code: 0 })
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

  const watched = db.selectFrom('livehouse_ops.slices').where('stream', '=', 'watch_records').orderBy('covers')
  const readRanges = async (channel: string) =>
    (await watched.select('covers').where('partition', '=', `channel=${channel}`).execute()).map(({ covers }) => covers)
  expect(await readRanges(first)).toEqual(['["2026-11-17 00:00:00","2026-11-19 00:00:00")'])
  expect((await readRanges(second))[0]).toMatch(/^\["2015-01-01 00:00:00"/)

  const renamed = { ...two, label: 'Renamed', is_test: true }
  expect(await run(`${second},Renamed,,,,yes`)).toEqual([{ ...one, state: 'retired' }, renamed])
  expect(await run(lineOne, `${second},,,,,`)).toEqual([one, two])
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { audit } from '../../src/cli/audit.ts'
import { status } from '../../src/cli/status.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { ofTest } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const account = ofTest(() => startAccount({ viewers: 10 }))
let lostId: string

beforeEach(() => void ([lostId = ''] = account.emulator.channelIds))

const makeUnknown = (scope: { readonly channelId?: string; readonly endpoint?: 'getQuestionList' }) =>
  void account.emulator.faults.push({ effect: refusal(404002, 'No such activity'), ...scope })

const callsOf = (channelId: string) => account.emulator.calls.filter((call) => call.channelId === channelId).length

const states = async () => {
  const channels = account.database.db.selectFrom('livehouse.channels').select('state').orderBy('state')
  return (await channels.execute()).map(({ state }) => state)
}

/** Makes the channel unknown on three days, so that it is gone, and then known again. */
async function loseChannel(streams: string): Promise<void> {
  makeUnknown({ channelId: lostId })
  for (let day = 0; day < 3; day++) {
    await account.sync(streams)
    account.clock.passHours(24)
  }
  expect(await states()).toContain('gone')
  account.emulator.faults.length = 0
}

test('a channel unknown on three days is gone, reported once, requested once a day, and back by itself', async () => {
  makeUnknown({ channelId: lostId })
  for (let day = 0; day < 2; day++) {
    for (let time = 0; time < 2; time++) expect(await account.sync()).toMatchObject({ code: 3 })
    account.clock.passHours(24)
  }
  expect(await states()).toEqual(['active', 'active'])
  const unknown = { partition: `channel=${lostId}`, code: 'api.channelUnknown' }
  expect(await account.sync()).toMatchObject({ code: 3, errors: [unknown] })
  expect(await states()).toEqual(['active', 'gone'])

  const callsBefore = callsOf(lostId)
  expect(await account.sync()).toMatchObject({ code: 0 })
  expect(callsOf(lostId)).toBe(callsBefore)
  for (let time = 0; time < 2; time++) {
    account.clock.passHours(time === 0 ? 24 : 0.1)
    expect(await account.sync()).toMatchObject({ code: 0 })
    expect(callsOf(lostId)).toBe(callsBefore + 1)
  }
  expect((await account.run(audit)).printed.join('\n')).toMatch(new RegExp(`^– channel ${lostId}: gone`, 'm'))
  expect((await account.run(status)).printed.join('\n')).toMatch(new RegExp(`does not know.*${lostId}$`, 'm'))

  account.emulator.faults.length = 0
  account.clock.passHours(24)
  expect(await account.sync()).toMatchObject({ code: 0 })
  expect(await states()).toEqual(['active', 'active'])
  await account.expectTruth(['visitors', 'watch_records', 'gifts', 'questionnaires', 'signups'])
})

test('a service that knows no channel fails every run, and none is gone; the next run reads everything', async () => {
  expect(await account.sync()).toMatchObject({ code: 0 })
  makeUnknown({})
  for (let time = 0; time < 3; time++) expect(await account.sync()).toMatchObject({ code: 3 })
  for (let day = 0; day < 3; day++) {
    account.clock.passHours(24)
    expect(await account.sync()).toMatchObject({ code: 3 })
    expect(await states()).toEqual(['active', 'active'])
  }
  account.emulator.faults.length = 0
  expect(await account.sync()).toMatchObject({ code: 0 })
  await account.expectTruth(['visitors', 'watch_records', 'gifts', 'questionnaires', 'signups'])
})

test('a channel unknown to one stream and delivered by another is never gone', async () => {
  makeUnknown({ channelId: lostId, endpoint: 'getQuestionList' })
  for (let day = 0; day < 4; day++) {
    account.clock.passHours(24)
    expect(await account.sync('visitors,questionnaires')).toMatchObject({ code: 3 })
  }
  expect(await states()).toEqual(['active', 'active'])
})

test('a gone channel that --channels names is tried again', async () => {
  await loseChannel('visitors')
  expect(await account.sync(['--channels', lostId])).toMatchObject({ code: 0 })
  expect(await states()).toEqual(['active', 'active'])
})

test('a gone channel is requested for any stream, and back with an answer other than unknown', async () => {
  const wanted = 'watch_records,gifts'
  await loseChannel(wanted)
  account.emulator.faults.push({ effect: refusal(403001), endpoint: 'visitorList', channelId: lostId })
  expect(await account.sync('visitors')).toMatchObject({ code: 3 })
  expect(await account.sync(wanted)).toMatchObject({ code: 0 })
  expect(await states()).toEqual(['active', 'active'])
  await account.expectTruth(['watch_records', 'gifts'])
})

test('a CSV file of channels lands with all its columns; channels taken out are retired, put back active', async () => {
  const { db } = account.database
  const [first = '', second = ''] = account.emulator.channelIds
  const path = join(createTemporaryFolder('csv'), 'channels.csv')
  const run = async (...lines: readonly string[]) => {
    writeFileSync(path, ['channel_id,label,group,from,until,is_test', ...lines].join('\n'))
    const argv = ['--streams', 'visitors,watch_records']
    expect(await account.sync(argv, { LIVEHOUSE_CHANNELS: `@${path}` })).toMatchObject({ code: 0 })
    const columns = ['channel_id', 'label', 'channel_group', 'is_test', 'state', 'read_until'] as const
    return await db.selectFrom('livehouse.channels').select(columns).orderBy('channel_id').execute()
  }
  const one = { channel_id: first, label: 'Town hall, "big"', channel_group: '内部', is_test: true, state: 'active' }
  const two = { channel_id: second, label: null, channel_group: null, is_test: false, state: 'active' }
  const lineOne = `${first},"Town hall, ""big""",内部,2026-11-17,2026-11-18,yes`
  expect(await run(lineOne, `${second},,,,,`)).toMatchObject([{ ...one, read_until: '2026-11-18' }, two])

  const watched = db.selectFrom('livehouse_ops.slices').where('stream', '=', 'watch_records').orderBy('covers')
  const readRanges = async (channel: string) =>
    (await watched.select('covers').where('partition', '=', `channel=${channel}`).execute()).map(({ covers }) => covers)
  expect(await readRanges(first)).toEqual(['["2026-11-17 00:00:00","2026-11-19 00:00:00")'])
  expect((await readRanges(second))[0]).toMatch(/^\["2015-01-01 00:00:00"/)

  const renamed = { ...two, label: 'Renamed', is_test: true }
  expect(await run(`${second},Renamed,,,,yes`)).toMatchObject([{ ...one, state: 'retired' }, renamed])
  expect(await run(lineOne, `${second},Renamed,,,2026-11-19,yes`)).toMatchObject([one, { read_until: '2026-11-19' }])
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { channels } from '../../src/cli/channels.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

async function run(environment: Readonly<Record<string, string>>, nowMs: number, ...argv: readonly string[]) {
  const clock = { now: () => nowMs, sleep: async () => {} }
  const { code, printed } = await runVerb(channels, argv, { clock, environment })
  expect(code).toBe(0)
  return printed
}

test('before the first run every configured channel is new', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { url } = database
  const lines = await run({ DATABASE_URL: url, LIVEHOUSE_CHANNELS: '9,8' }, 0)
  expect(lines.slice(1).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['9', 'new', '0', '0', 'never'],
    ['8', 'new', '0', '0', 'never'],
  ])
  expect((await run({ DATABASE_URL: url }, 0)).join()).toContain('no channel is configured')
})

test('channels are listed with their rows and settings, and as retired when no longer configured', async () => {
  await using pipeline = await startPipeline()
  await pipeline.sync()
  const { emulator, database, clock } = pipeline
  const [configured = '', dropped = ''] = emulator.channelIds
  const path = join(createTemporaryFolder('channels'), 'channels.csv')
  await writeFile(path, `channel_id,label,group,is_test\n77,,,\n${configured},Town hall,Internal,yes\n`)
  const environment = { DATABASE_URL: database.url, LIVEHOUSE_CHANNELS: `@${path}` }
  const lines = await run(environment, clock.nowMs + 600_000)
  const [object = ''] = await run(environment, clock.nowMs, '--json')
  const records = (id: string) => emulator.truth().watch_records.filter(({ channel_id }) => channel_id === id).length
  const rowOf = (id: string, state: string) => {
    const name = emulator.world.channels.get(id)?.name
    return expect.stringMatching(new RegExp(`^ *${id} +${name} +${state} +60 +${records(id)} +10 min ago$`))
  }
  const landed = [rowOf(configured, 'Town hall +Internal +active, test'), rowOf(dropped, 'retired')]
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^ *77 +new +0 +0 +never$/), ...landed])
  const filled = { visitors: 60, last_landed_at: new Date(clock.nowMs).toISOString() }
  expect(JSON.parse(object)).toMatchObject({
    channels: [
      { channel_id: '77', state: 'new', visitors: 0, last_landed_at: null },
      { channel_id: configured, state: 'active', watch_records: records(configured), ...filled },
      { channel_id: dropped, state: 'retired', ...filled },
    ],
  })
})

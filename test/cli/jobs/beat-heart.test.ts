import { expect, test } from 'vitest'
import { run } from '../../../src/cli/run.ts'
import { startEmulator } from '../../../src/emulator/server.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { createRecordingLog } from '../../helpers/recording-log.ts'
import { environmentOf, runVerb } from '../../helpers/run-verb.ts'
import { startScriptedService } from '../../helpers/scripted-service.ts'

test('the heartbeat is asked after a green job only, and changes nothing about the job', async () => {
  await using database = await createTestDatabase()
  await using emulator = await startEmulator({ channels: 1, viewers: 5, days: 2 })
  await using heart = await startScriptedService(() => ({ status: 500 }))
  const { log, lines } = createRecordingLog()
  const environment = { ...environmentOf(emulator, database), LIVEHOUSE_HEARTBEAT_URL: `${heart.url}/beat` }
  expect((await runVerb(run, ['nightly'], { environment, log })).code).toBe(0)
  expect(heart.requests).toHaveLength(1)
  expect(lines.filter(({ event }) => event === 'heartbeat.failed')).toMatchObject([
    { fields: { reason: 'status 500' } },
  ])

  const broken = { ...environment, LIVEHOUSE_CHANNELS: [...emulator.channelIds, '424242'].join(',') }
  expect((await runVerb(run, ['nightly'], { environment: broken, log })).code).toBe(3)
  expect(heart.requests).toHaveLength(1)
})

import { expect, test } from 'vitest'
import { readChannels } from '../../src/config/read-channels.ts'
import { readServiceSettings, readSettings } from '../../src/config.ts'
import { plannedChannel } from '../../src/cli/planned-channel.ts'
import { runExtraction } from '../../src/cli/run-extraction.ts'
import type { RunOutcome } from '../../src/core/outcome.ts'
import { refusal } from '../../src/emulator/fault-effects.ts'
import { planSync } from '../../src/pipeline/plan-sync.ts'
import { streams } from '../../src/streams/registry.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

/** A run over both channels, or over those that are named. */
function startRuns({ emulator, database, clock }: TestPipeline) {
  const { log, lines } = createRecordingLog()
  const { context } = createTestContext({ log, clock: { now: () => clock.nowMs, sleep: async () => {} } })
  const environment = {
    LIVEHOUSE_BASE_URL: emulator.baseUrl,
    LIVEHOUSE_API_TOKEN: emulator.apiToken,
    LIVEHOUSE_MAX_CALLS_PER_SECOND: '0',
    LIVEHOUSE_CHANNELS: emulator.channelIds.join(','),
  }
  const [service, channels] = readSettings(environment, (source) => [readServiceSettings(source), readChannels(source)])
  const run = async (named?: string): Promise<RunOutcome> => {
    const chosen = channels.filter(({ channelId }) => named === undefined || channelId === named)
    return await runExtraction(context, {
      command: 'sync',
      settings: {},
      service,
      db: database.db,
      channels,
      namesChannels: named !== undefined,
      streams: streams.filter(({ name }) => name === 'visitors' || name === 'questionnaires'),
      planStreams: (now) => (some, questionsOf) =>
        planSync(
          database.db,
          { streams: some, channels: chosen.map(plannedChannel), historyFrom: 0, now, timeZone: service.timeZone },
          questionsOf,
        ),
    })
  }
  return { run, lines }
}

test('a channel that is unknown three runs in a row is said to be gone once, then left out, until it is named and answers', async () => {
  await using pipeline = await startPipeline({ viewers: 10 })
  const { emulator, database } = pipeline
  const [lost = '', kept = ''] = emulator.channelIds
  const { run, lines } = startRuns(pipeline)
  const events = () => lines.filter(({ event }) => event.startsWith('channel.')).map(({ event }) => event)
  const states = async () =>
    Object.fromEntries(
      (await database.db.selectFrom('livehouse.channels').select(['channel_id', 'state']).execute()).map((row) => [
        row.channel_id,
        row.state,
      ]),
    )
  emulator.faults.push({ effect: refusal(404002), channelId: lost })

  for (let night = 0; night < 2; night++) {
    const outcome = await run()
    expect(outcome.status).toBe('partial')
    expect(new Set(outcome.errors.map(({ stream }) => stream))).toEqual(new Set(['questionnaires', 'visitors']))
  }
  expect(events()).toEqual([])
  const third = await run()
  expect(third.status).toBe('partial')
  expect(third.errors).toMatchObject([{ stream: null, partition: `channel=${lost}`, code: 'api.channelUnknown' }])
  expect(third.errors[0]?.message).toContain(`--channels ${lost}`)
  expect(events()).toEqual(['channel.gone'])
  expect(await states()).toEqual({ [lost]: 'gone', [kept]: 'active' })

  const calls = emulator.calls.filter(({ channelId }) => channelId === lost).length
  const fourth = await run()
  expect(fourth).toMatchObject({
    status: 'ok',
    errors: [],
    streams: { visitors: { slices: { failed: 0, verified: 1 } } },
  })
  expect(emulator.calls.filter(({ channelId }) => channelId === lost)).toHaveLength(calls)

  const named = await run(lost)
  expect(named.status).not.toBe('ok')
  expect(await states()).toMatchObject({ [lost]: 'gone' })
  emulator.faults.length = 0
  expect(await run(lost)).toMatchObject({ status: 'ok', errors: [] })
  expect(await states()).toMatchObject({ [lost]: 'active' })
  expect(events()).toEqual(['channel.gone', 'channel.back'])
  expect(await run()).toMatchObject({ status: 'ok', streams: { visitors: { slices: { verified: 2 } } } })
})

test('a channel that one stream does not know and another delivers never goes', async () => {
  await using pipeline = await startPipeline({ viewers: 10 })
  const [channelId = ''] = pipeline.emulator.channelIds
  pipeline.emulator.faults.push({ effect: refusal(404002), endpoint: 'getQuestionList', channelId })
  const { run, lines } = startRuns(pipeline)
  for (let night = 0; night < 4; night++) {
    expect((await run()).errors).toMatchObject([{ stream: 'questionnaires', code: 'api.channelUnknown' }])
  }
  expect(lines.filter(({ event }) => event === 'channel.gone')).toEqual([])
})

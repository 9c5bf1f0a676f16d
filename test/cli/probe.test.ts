import { expect, test } from 'vitest'
import { z } from 'zod'
import { probe } from '../../src/cli/probe.ts'
import { sync } from '../../src/cli/sync.ts'
import { refusal } from '../helpers/fault-effects.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { readSourceFacts } from '../../src/ledger/source.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const resultSchema = z.object({
  run_id: z.string(),
  status: z.string(),
  streams: z.record(z.string(), z.object({ calls: z.number(), extracted: z.literal(0) })),
  errors: z.array(z.object({ stream: z.string(), code: z.string() })),
  facts: z.array(z.object({ topic: z.string(), subject: z.string(), answer: z.string().nullable() })),
})

function environmentOf({ baseUrl, apiToken, channelIds }: Emulator, url: string) {
  return {
    LIVEHOUSE_BASE_URL: baseUrl,
    LIVEHOUSE_API_TOKEN: apiToken,
    LIVEHOUSE_CHANNELS: channelIds.join(','),
    DATABASE_URL: url,
  }
}

test('the findings are kept, the run is on record with its calls, and the next sync tries the place that was found', async () => {
  await using service = await startEmulatedService({ switches: { listParams: 'body' } })
  await using database = await createTestDatabase()
  const { emulator } = service
  const environment = environmentOf(emulator, database.url)
  const { context, printed } = createTestContext({ environment })
  expect(await probe.run(context, ['--json'])).toBe(0)
  expect(printed).toHaveLength(1)
  const result = resultSchema.parse(JSON.parse(printed.join()))
  const counted = Object.values(result.streams).reduce((sum, { calls }) => sum + calls, 0)
  expect(counted).toBe(emulator.calls.length)
  expect(new Set(emulator.calls.map(({ endpoint }) => endpoint))).toEqual(new Set(['managers', 'managersUsage']))

  const kept = await readSourceFacts(database.db)
  expect(kept.map(({ topic, answer }) => [topic, answer])).toEqual(
    result.facts.map(({ topic, answer }) => [topic, answer]),
  )
  const [run] = await database.db.selectFrom('livehouse_ops.runs').selectAll().execute()
  expect(run).toMatchObject({ run_id: result.run_id, command: 'probe', status: 'ok' })

  const before = emulator.calls.length
  await sync.run(createTestContext({ environment }).context, ['--streams', 'managers'])
  expect(emulator.calls.slice(before).map(({ endpoint, size }) => [endpoint, size])).toEqual([['managers', 100]])
})

test('an endpoint without an answer makes the run partial; a refused token ends it, and the record says so', async () => {
  await using service = await startEmulatedService()
  await using database = await createTestDatabase()
  const environment = environmentOf(service.emulator, database.url)
  service.emulator.faults.push({ effect: refusal(403002), endpoint: 'managers' })
  const { context, printed } = createTestContext({ environment })
  expect(await probe.run(context, ['--json'])).toBe(3)
  const { status, errors } = resultSchema.parse(JSON.parse(printed.join()))
  expect({ status, errors }).toEqual({ status: 'partial', errors: [{ stream: 'managers', code: 'api.forbidden' }] })

  const refused = createTestContext({ environment: { ...environment, LIVEHOUSE_API_TOKEN: 'wrong' } })
  await expect(probe.run(refused.context, [])).rejects.toMatchObject({ code: 'api.unauthorized' })
  const runs = await database.db.selectFrom('livehouse_ops.runs').select('status').orderBy('run_id').execute()
  expect(runs.map((run) => run.status)).toEqual(['partial', 'failed'])
})

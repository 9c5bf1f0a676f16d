import { expect, test } from 'vitest'
import { probe } from '../../src/cli/probe.ts'
import { sync } from '../../src/cli/sync.ts'
import { refusal } from '../helpers/fault-effects.ts'
import { readSourceFacts } from '../../src/ledger/source.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf } from '../helpers/run-verb.ts'

test('the findings are kept, and the next sync tries the place that was found; each run is on record: one without an answer is partial, one whose token is refused failed', async () => {
  await using service = await startEmulatedService({ switches: { listParams: 'body' } })
  await using database = await createTestDatabase()
  const { emulator } = service
  const environment = environmentOf(emulator, database)
  const { context, printed } = createTestContext({ environment })
  expect(await probe.run(context, [])).toBe(0)
  expect(printed.at(-1)).toBe(`ok: ${emulator.calls.length} calls; kept in livehouse_ops.source_facts`)
  expect(new Set(emulator.calls.map(({ endpoint }) => endpoint))).toEqual(new Set(['managers', 'managersUsage']))

  const kept = await readSourceFacts(database.db)
  expect(kept.length).toBeGreaterThan(0)
  for (const { subject, answer } of kept)
    expect(printed.join('\n')).toMatch(new RegExp(`^✓ ${subject} +where the parameters are read: ${answer}$`, 'm'))
  const [run] = await database.db.selectFrom('livehouse_ops.runs').selectAll().execute()
  expect(run).toMatchObject({ command: 'probe', status: 'ok' })

  const before = emulator.calls.length
  await sync.run(createTestContext({ environment }).context, ['--streams', 'managers'])
  // The clocks differ: one call more, without a size, asks an answer of the account for its time.
  const sizes = emulator.calls.slice(before).map(({ endpoint, size }) => [endpoint, size])
  expect(sizes).toEqual([
    ['managers', undefined],
    ['managers', 100],
  ])

  emulator.faults.push({ effect: refusal(403002), endpoint: 'managers' })
  const again = createTestContext({ environment })
  expect(await probe.run(again.context, [])).toBe(3)
  expect(again.printed.slice(-2)).toEqual([
    expect.stringMatching(/^✗ .*managers.*403/),
    expect.stringMatching(/^partial: /),
  ])

  const refused = createTestContext({ environment: { ...environment, LIVEHOUSE_API_TOKEN: 'wrong' } })
  await expect(probe.run(refused.context, [])).rejects.toMatchObject({ code: 'api.unauthorized' })
  const runs = await database.db.selectFrom('livehouse_ops.runs').select('status').orderBy('run_id').execute()
  expect(runs.map((run) => run.status)).toEqual(['ok', 'ok', 'partial', 'failed'])
})

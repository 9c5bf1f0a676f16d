import { expect, test } from 'vitest'
import { probe } from '../../src/cli/probe.ts'
import { sync } from '../../src/cli/sync.ts'
import { readSourceFacts } from '../../src/ledger/source.ts'
import { html, refusal } from '../helpers/fault-effects.ts'
import { startAccount } from '../helpers/start-account.ts'

test('findings are stored and used by the next sync, and partial and failed probes are recorded', async () => {
  await using account = await startAccount({ switches: { listParams: 'body' } })
  const { emulator, database, run } = account
  const { code, printed } = await run(probe)
  expect(code).toBe(0)
  expect(printed.at(-1)).toBe(`ok: ${emulator.calls.length} calls; kept in livehouse_ops.source_facts`)
  expect(new Set(emulator.calls.map(({ endpoint }) => endpoint))).toEqual(new Set(['managers', 'managersUsage']))

  const facts = await readSourceFacts(database.db)
  expect(facts.length).toBeGreaterThan(0)
  for (const { subject, answer } of facts)
    expect(printed.join('\n')).toMatch(new RegExp(`^✓ ${subject} +where the parameters are read: ${answer}$`, 'm'))
  const [first] = await database.db.selectFrom('livehouse_ops.runs').selectAll().execute()
  expect(first).toMatchObject({ command: 'probe', status: 'ok' })

  const before = emulator.calls.length
  await run(sync, ['--streams', 'managers'])
  expect(emulator.calls.slice(before).map(({ endpoint, size }) => [endpoint, size])).toEqual([['managers', 100]])

  for (const effect of [refusal(403002), html(403)]) {
    emulator.faults.splice(0, 1, { effect, endpoint: 'managers' })
    const partialRun = await run(probe)
    expect(partialRun.code).toBe(3)
    expect(partialRun.printed.at(-2)).toMatch(/^✗ .*managers.*403/)
    expect(partialRun.printed.at(-1)).toMatch(/^partial: /)
  }

  expect((await run(probe, [], { LIVEHOUSE_API_TOKEN: 'wrong' })).error).toMatchObject({ code: 'api.unauthorized' })
  const runs = await database.db.selectFrom('livehouse_ops.runs').select('status').orderBy('run_id').execute()
  expect(runs.map((run) => run.status)).toEqual(['ok', 'ok', 'partial', 'partial', 'failed'])
})

import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { db } from '../../../src/cli/db.ts'
import { sync } from '../../../src/cli/sync.ts'
import { stopEmbedded } from '../../../src/db/embedded.ts'
import { startEmulator } from '../../../src/emulator/server.ts'
import { expectTruth } from '../../helpers/expect-truth.ts'
import { createPassableFolder } from '../../helpers/operating-system.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'
import { environmentOf, runVerb } from '../../helpers/run-verb.ts'

let folder = ''

beforeAll(async () => {
  folder = await createPassableFolder('copy')
})

afterAll(async () => {
  await stopEmbedded(folder, new AbortController().signal)
  await rm(folder, { recursive: true, force: true })
})

test('the embedded database moves to a server, and the next sync goes on there', async () => {
  await using server = await createTestDatabase({ isMigrated: false })
  await using emulator = await startEmulator({ channels: 2, viewers: 60, days: 10 })
  const onServer = { ...environmentOf(emulator, server), LIVEHOUSE_DATA_DIR: folder }
  const environment = { ...onServer, DATABASE_URL: 'embedded' }
  const tooEarly = await runVerb(db, ['copy', '--to', server.url], { environment })
  expect(tooEarly.error).toMatchObject({ code: 'db.copyRefused', message: expect.stringMatching(/nothing to copy/) })
  const oddPassword = await runVerb(db, ['copy', '--to', 'postgres://u:a%zz@127.0.0.1:1/d'], { environment })
  expect(oddPassword.error).toMatchObject({ code: 'db.copyRefused' })
  await runVerb(sync, [], { environment })

  const copied = await runVerb(db, ['copy', '--to', server.url], { environment })
  expect(copied.code).toBe(0)
  expect(copied.printed.join('\n')).toMatch(/livehouse\.visitors +\d+/)
  expect([...copied.printed, ...copied.remarked].join('\n')).not.toContain(new URL(server.url).password)
  await expectTruth({ emulator, database: server })

  const again = await runVerb(sync, ['--json'], { environment: onServer })
  const { streams } = Object(JSON.parse(again.printed.join('')))
  expect(streams.visitors).toMatchObject({ inserted: 0, updated: 0, unchanged: 120 })
  // The ledger came along: what has settled is not read again.
  expect(streams.watch_records.calls).toBeLessThanOrEqual(4)
})

test.each([
  [['copy'], 'copy needs --to'],
  [['copy', '--to', 'mysql://u:hidden@h/d'], '--to (not shown) should be a Postgres URL'],
  [['start', '--to', 'postgres://h/d'], '--to goes with copy, not with start'],
])('%j is wrong use', async (argv, problem) => {
  const { problems } = await runVerb(db, argv, { environment: { LIVEHOUSE_DATA_DIR: folder } })
  expect(problems).toEqual([expect.stringContaining(problem)])
  expect(problems.join('')).not.toContain('hidden')
})

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { fillDemo } from '../../src/cli/demo.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const size = { channels: 1, viewers: 40 }

test('a table with fewer rows than the emulator has fails the demo and is named', async () => {
  await using database = await createTestDatabase()
  await sql`create function public.lose() returns trigger language plpgsql as 'begin return null; end';
    create trigger lose before insert on livehouse.visitors for each row when (new.user_id like '%1')
    execute function public.lose()`.execute(database.db)

  const { outcome, tables } = await fillDemo(createTestContext().context, database.db, size)
  expect(outcome.status).toBe('failed')
  const message = expect.stringMatching(/^livehouse\.visitors holds 3\d rows, the emulator has 40$/)
  expect(outcome.errors).toMatchObject([{ message }])
  expect(tables.filter((line) => line.endsWith('✗'))).toHaveLength(1)
})

test('an interrupted demo is not compared, but ends as interrupted', async () => {
  await using database = await createTestDatabase()
  const controller = new AbortController()
  const { context } = createTestContext({ signal: controller.signal })
  const progress = { report: () => controller.abort(new Error('Ctrl-C')), [Symbol.dispose]: () => {} }
  const interrupted = { ...context, openProgress: async () => progress }
  await expect(fillDemo(interrupted, database.db, size)).rejects.toThrow('Ctrl-C')
})

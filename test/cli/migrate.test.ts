import { expect, test } from 'vitest'
import { migrate } from '../../src/cli/migrate.ts'
import { loadMigrations } from '../../src/store/migrations-folder.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'

/** Runs `livehouse migrate …` and returns what it printed. */
async function run(url: string, ...argv: string[]): Promise<readonly string[]> {
  const { context, printed } = createTestContext({ environment: { DATABASE_URL: url } })
  expect(await migrate.run(context, argv)).toBe(0)
  return printed
}

test('status, up, down and sql say what is and what was done', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { url } = database
  const names = Object.keys(await loadMigrations())
  expect(await run(url, 'status')).toEqual(names.map((name) => `${name}  pending`))
  expect((await run(url, 'sql')).join()).toContain('create table livehouse_ops.runs')
  expect(await run(url, 'up')).toEqual(names.map((name) => `applied: ${name}`))
  expect(await run(url, 'up')).toEqual(['nothing to do: no migration was applied'])
  expect(await run(url, 'sql')).toEqual(['-- nothing is pending'])
  expect((await run(url, 'status'))[0]).toMatch(/^0001-\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d$/)
  expect(await run(url, 'down')).toEqual([`taken back: ${names.at(-1)}`])
})

test('where the server of the queue is away, the schema and the views are made all the same', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const environment = { DATABASE_URL: database.url, LIVEHOUSE_QUEUE_URL: 'postgres://nobody:hush@127.0.0.1:1/none' }
  const { error, remarked } = await runVerb(migrate, ['up'], { environment })
  expect(error).toMatchObject({ code: 'db.unreachable' })
  expect(remarked).toContain('published: the views of livehouse_bi')
})

test('the whole SQL is printed without any database', async () => {
  const { context, printed, remarked } = createTestContext()
  expect(await migrate.run(context, ['sql', '--all'])).toBe(0)
  expect(printed.join()).toMatch(/^begin;[^]*commit;/)
  expect(remarked).toEqual([])
})

test.each([
  [[], 'no action is given; the actions are up, down, status, sql'],
  [['sideways'], 'there is no action "sideways"; the actions are up, down, status, sql'],
])('%j is wrong use', async (argv, problem) => {
  const { context } = createTestContext()
  await expect(migrate.run(context, argv)).rejects.toMatchObject({
    code: 'usage.invalid',
    details: { problems: [problem] },
  })
})

import { sql } from 'kysely'
import { getRollbackPlans } from 'pg-boss'
import { expect, test } from 'vitest'
import { migrate } from '../../src/cli/migrate.ts'
import { worker } from '../../src/cli/worker.ts'
import { loadMigrations } from '../../src/store/migrate.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { silentLog } from '../helpers/silent-log.ts'

async function run(url: string, ...argv: string[]) {
  const { code, printed } = await runVerb(migrate, argv, { environment: { DATABASE_URL: url } })
  expect(code).toBe(0)
  return printed
}

test('status, up, down and sql print what they do; views are published even if the queue is unreachable', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const { url } = database
  const names = Object.keys(await loadMigrations())
  expect(await run(url, 'status')).toEqual(names.map((name) => `${name}  pending`))
  // It takes no advisory lock, which any login of the database could hold.
  const script = /^(?!.*pg_advisory).*create table livehouse_ops\.runs.*CREATE TABLE pgboss\.job/s
  expect((await run(url, 'sql')).join()).toMatch(script)
  expect(await run(url, 'up')).toEqual(names.map((name) => `applied: ${name}`))
  expect(await run(url, 'up')).toEqual(['nothing to do: no migration was applied'])
  expect(await run(url, 'sql')).toEqual(['-- nothing is pending'])
  expect((await run(url, 'status'))[0]).toMatch(/^0001-\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d$/)
  expect(await run(url, 'down')).toEqual([`reverted: ${names.at(-1)}`])

  const environment = { DATABASE_URL: url, LIVEHOUSE_QUEUE_URL: 'postgres://nobody:hush@127.0.0.1:1/none' }
  const { error, remarks } = await runVerb(migrate, ['up'], { environment })
  expect(error).toMatchObject({ code: 'db.unreachable' })
  expect(remarks).toContain('published: the views of livehouse_bi')
})

test('a queue of an older version is refused until the printed SQL has upgraded it', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const service = { LIVEHOUSE_BASE_URL: 'http://127.0.0.1:1', LIVEHOUSE_API_TOKEN: 'any' }
  const environment = { ...service, DATABASE_URL: database.url, LIVEHOUSE_AUTO_MIGRATE: '0' }
  await run(database.url, 'up')
  await sql.raw(getRollbackPlans('pgboss')).execute(database.db)
  const { error } = await runVerb(worker, [], { environment })
  expect(error).toMatchObject({ code: 'db.pendingMigrations', message: expect.stringContaining('outdated') })

  // As psql runs it: the transaction, then the statements that cannot run in one.
  const [transaction = '', builds = ''] = (await run(database.url, 'sql')).join('\n').split(/(?<=^ *COMMIT;)/m)
  expect(transaction).not.toContain('pg_advisory')
  for (const statement of [transaction, ...builds.split(/;$/m)]) await sql.raw(statement).execute(database.db)
  expect(await run(database.url, 'sql')).toEqual(['-- nothing is pending'])
  const stop = new AbortController()
  const log = { ...silentLog, info: () => stop.abort() }
  expect(await runVerb(worker, [], { environment, log, signal: stop.signal })).toMatchObject({ code: 0 })
})

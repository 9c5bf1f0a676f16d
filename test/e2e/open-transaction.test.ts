import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrate } from '../../src/cli/migrate.ts'
import { sync } from '../../src/cli/sync.ts'
import { openAs } from '../helpers/open-as.ts'
import { startAccount } from '../helpers/start-account.ts'

test('an analyst’s open transaction holds up no run and no other analyst, and is named; a migration stops for it', async () => {
  await using account = await startAccount()
  const { database } = account
  expect(await account.run(sync, ['--streams', 'managers'])).toMatchObject({ code: 0 })
  await using analyst = await openAs('livehouse_analyst', database)
  await using other = await openAs('livehouse_analyst', database)
  await analyst.session.query('begin; select count(*) from livehouse_bi.freshness')
  const { rows } = await analyst.session.query<{ pid: number }>('select pg_backend_pid() as pid')
  const named = `process ${rows[0]?.pid} of login ${analyst.name} since `

  await sql`update livehouse_ops.bi_settings set fingerprint = null`.execute(database.db)
  const run = await account.run(sync, ['--streams', 'managers'])
  expect(run).toMatchObject({ code: 0, error: undefined })
  expect(run.remarked.join('\n').split(named)[1]).toMatch(/^\S+ \S+ UTC, on [\w.]+, [\w.]+, [\w.]+ and \d+ more\. /)
  await sql`select count(*) from livehouse_bi.freshness`.execute(other.db)

  const down = await account.run(migrate, ['down'])
  expect(down.error).toMatchObject({ code: 'db.refused', message: expect.stringContaining(named) })
  await analyst.session.query('commit')
  expect(await account.run(migrate, ['down'])).toMatchObject({ code: 0 })
})

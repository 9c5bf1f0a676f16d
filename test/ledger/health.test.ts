import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { hasCode } from '../../src/core/errors.ts'
import { readOnly, readTableSizes, readWatchHours } from '../../src/ledger/health.ts'
import { errorOf } from '../helpers/connect-client.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('hours are added up by the day of the service, and no statement runs for longer than it may', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  await sql`insert into livehouse.watch_records (channel_id, record_id, entered_at, watch_seconds, api_version, run_id) values
    ('9', 1, '2026-11-19T15:59:00Z', 3600, 2, 1), ('9', 2, '2026-11-19T16:00:00Z', 1800, 2, 1),
    ('9', 3, '2026-11-20T10:00:00Z', null, 2, 1), ('9', 4, '2026-10-01T00:00:00Z', 9999, 2, 1)`.execute(db)
  const since = new Date('2026-11-01T00:00:00Z')
  expect(await readOnly(db, 5000, (snapshot) => readWatchHours(snapshot, since, 'Asia/Shanghai'))).toEqual([
    { day: '2026-11-19', hours: 1, visits: 1 },
    { day: '2026-11-20', hours: 0.5, visits: 2 },
  ])
  const slow = await errorOf(readOnly(db, 50, (snapshot) => sql`select pg_sleep(20)`.execute(snapshot)))
  expect(hasCode(slow, 'db.refused') && slow.details.sqlState).toBe('57014')
  const writing = readOnly(db, 5000, (snapshot) => sql`delete from livehouse.watch_records`.execute(snapshot))
  expect(hasCode(await errorOf(writing), 'db.refused')).toBe(true)
})

test('small tables are counted, large ones never: they are estimated once the database knows', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  expect((await readTableSizes(db)).get('managers')).toEqual({ rows: 0, isExact: true })
  await sql`insert into livehouse.managers (manager_id, run_id) select n, 1 from generate_series(1, 60000) as n`.execute(
    db,
  )
  // Statistics may have been made by the server in the meantime, or not.
  const grown = (await readTableSizes(db)).get('managers')
  expect(grown?.isExact).toBe(false)
  expect(grown?.rows).toBeGreaterThanOrEqual(50_000)
  await sql`analyze livehouse.managers`.execute(db)
  expect((await readTableSizes(db)).get('managers')).toEqual({ rows: 60_000, isExact: false })
})

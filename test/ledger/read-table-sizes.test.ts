import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readTableSizes } from '../../src/ledger/read-table-sizes.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

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

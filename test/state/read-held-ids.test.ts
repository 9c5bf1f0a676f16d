import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readHeldIds } from '../../src/state/read-held-ids.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('ids of more than one channel are counted once', async () => {
  await using database = await createTestDatabase()
  await sql`insert into livehouse.visitors (channel_id, user_id, run_id)
    values ('1', 'a', 1), ('1', 'b', 1), ('2', 'a', 1), ('3', 'a', 1)`.execute(database.db)
  expect(await readHeldIds(database.db)).toEqual({
    records: { channels: 0, ids: 0, recurring: 0 },
    users: { channels: 3, ids: 2, recurring: 1 },
  })
})

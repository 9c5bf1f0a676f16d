import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { keepFigures } from '../../../src/bi/publish/keep-figures.ts'
import { publishBi } from '../../../src/bi/publish/publish-bi.ts'
import type { Database } from '../../../src/store/database.ts'
import { lockName } from '../../../src/store/lock-name.ts'
import { untilBlocked } from '../../helpers/own-locks.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'

/** A channel in each table whose rows figures are of, and one of them in two. */
async function writeChannels(db: Kysely<Database>): Promise<void> {
  await sql`insert into livehouse.visitors (channel_id, user_id, run_id) values ('1', 'a', 1), ('2', 'a', 1), ('2', 'b', 1)`.execute(
    db,
  )
  await sql`insert into livehouse.watch_records (channel_id, record_id, api_version, run_id) values ('2', 1, 2, 1), ('3', 1, 2, 1)`.execute(
    db,
  )
  await sql`insert into livehouse.gifts (channel_id, gift_type, gift_key, occurrence, run_id) values ('4', 'prop', 'g', 1, 1)`.execute(
    db,
  )
  await sql`insert into livehouse.signups (channel_id, question_id, signup_key, answers, occurrence, run_id) values ('5', 'q', 's', '[]', 1, 1)`.execute(
    db,
  )
}

async function readChanged(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ channels: string }>`
    select coalesce(string_agg(distinct channel_id, ' ' order by channel_id), '') as channels
    from livehouse_ops.changed_channels`.execute(db)
  return rows[0]?.channels ?? ''
}

const becomeAnother = sql`comment on function livehouse_ops.note_changed_channels() is 'of another livehouse'`

test('figures are worked out by the livehouse alone that has made the views, and anew by the next that makes them', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  await writeChannels(db)
  await becomeAnother.execute(db)
  await keepFigures(db)
  expect(await readChanged(db)).toBe('1 2 3 4 5')
  await sql`delete from livehouse_ops.changed_channels`.execute(db)
  await sql`update livehouse_ops.bi_settings set fingerprint = 'older'`.execute(db)
  const isWorking = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const older = db.transaction().execute(async (trx) => {
    await lockName(trx, 'channel days')
    isWorking.resolve()
    await isOver.promise
  })
  await isWorking.promise
  const published = publishBi(db)
  await untilBlocked(db, sql`true`)
  isOver.resolve()
  await older
  expect(await published).toEqual({ status: 'published' })
  expect(await readChanged(db)).toBe('1 2 3 4 5')
  await keepFigures(db)
  expect(await readChanged(db)).toBe('')
})

test('a stop ends what is being worked out, and what a deadlock ends is done again', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  await writeChannels(db)
  const stop = new AbortController()
  const other = await db.startTransaction().execute()
  await sql`delete from livehouse_ops.changed_channels where channel_id = '4'`.execute(other)
  const stopped = keepFigures(db, stop.signal)
  await untilBlocked(db, sql`locktype = 'transactionid'`)
  stop.abort()
  await stopped
  expect(await readChanged(db)).toBe('1 2 3 4 5')
  const kept = keepFigures(db)
  await untilBlocked(db, sql`locktype = 'transactionid'`)
  // Who has waited the longer of two that wait for each other is ended.
  await lockName(other, 'channel days')
  await other.rollback().execute()
  await kept
  expect(await readChanged(db)).toBe('')
})

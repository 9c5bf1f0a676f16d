import { type Kysely, sql } from 'kysely'

/** Calls of a day are counted behind a row of ours, and a reading over days remembers the days on which the service refused it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE livehouse_ops.call_turn (is_only boolean PRIMARY KEY CHECK (is_only))`.execute(db)
  await sql`ALTER TABLE livehouse_ops.open_slices
    DROP CONSTRAINT open_slices_pages_read_check,
    ADD CONSTRAINT open_slices_pages_read_check CHECK (pages_read >= 0),
    DROP CONSTRAINT open_slices_page_size_check,
    ADD CONSTRAINT open_slices_page_size_check CHECK (page_size >= 0),
    DROP COLUMN received_rows,
    DROP COLUMN moved,
    ADD COLUMN failed_days integer NOT NULL DEFAULT 0 CHECK (failed_days >= 0),
    ADD COLUMN failed_on date`.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.call_turn IS
    'At most one row, locked while a call of the day is taken, so that calls are counted one at a time (livehouse_ops.call_budget)'`.execute(
    db,
  )
  await comment(db, 'call_turn', { is_only: 'Always true' })
  await comment(db, 'open_slices', comments)
}

/** What had moved or had not been begun is begun anew. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.call_turn`.execute(db)
  await sql`DELETE FROM livehouse_ops.open_slices WHERE pages_read = 0`.execute(db)
  await sql`ALTER TABLE livehouse_ops.open_slices
    DROP CONSTRAINT open_slices_pages_read_check,
    ADD CONSTRAINT open_slices_pages_read_check CHECK (pages_read > 0),
    DROP CONSTRAINT open_slices_page_size_check,
    ADD CONSTRAINT open_slices_page_size_check CHECK (page_size > 0),
    DROP COLUMN failed_days,
    DROP COLUMN failed_on,
    ADD COLUMN received_rows bigint NOT NULL DEFAULT 0,
    ADD COLUMN moved text`.execute(db)
  await sql`ALTER TABLE livehouse_ops.open_slices ALTER COLUMN received_rows DROP DEFAULT`.execute(db)
  await comment(db, 'open_slices', commentsBefore)
}

type Comments = Readonly<Record<string, string>>

async function comment(db: Kysely<unknown>, table: string, columns: Comments): Promise<void> {
  for (const [column, text] of Object.entries(columns)) {
    const name = sql.ref(`livehouse_ops.${table}.${column}`)
    await sql`COMMENT ON COLUMN ${name} IS ${sql.lit(text)}`.execute(db)
  }
}

const comments: Comments = {
  pages_read: 'Pages whose rows are committed; 0 where none has come and the days on which it failed are remembered',
  page_size: 'Items of the largest page that came; 0 before the first',
  keys: 'Keys of the rows that came so far',
  last_page_keys: 'Keys of the last page, in its order: another day begins with a look at whether they are still there',
  failed_days: 'Days in a row on which the service refused it or failed; 0 once a page has come',
  failed_on: 'The last of them, by the service',
}

const commentsBefore: Comments = {
  pages_read: 'Pages whose rows are committed',
  page_size: 'Items of a full page, as the service serves them',
  keys: 'Keys of the rows that came so far: one that comes again shows that the list has moved',
  last_page_keys: 'Keys of the last page, in its order',
  received_rows: 'Items that came so far',
  moved: 'What showed that the list moved while it was read; NULL where nothing has',
}

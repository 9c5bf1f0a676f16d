import { type Kysely, sql } from 'kysely'

/** What is read over days no longer counts the days on which it was refused: what does not come on is read in halves. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM livehouse_ops.open_slices WHERE pages_read = 0`.execute(db)
  await sql`ALTER TABLE livehouse_ops.open_slices DROP COLUMN failed_days, DROP COLUMN failed_on`.execute(db)
  await comment(db, 'Pages whose rows are committed; 0 of a half of one that was refused for days')
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.open_slices
    ADD COLUMN failed_days integer NOT NULL DEFAULT 0 CHECK (failed_days >= 0),
    ADD COLUMN failed_on date`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.open_slices.failed_days IS
    'Days in a row on which the service refused it or failed; 0 once a page has come'`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.open_slices.failed_on IS 'The last of them, by the service'`.execute(db)
  await comment(
    db,
    'Pages whose rows are committed; 0 where none has come and the days on which it failed are remembered',
  )
}

async function comment(db: Kysely<unknown>, words: string): Promise<void> {
  await sql`COMMENT ON COLUMN livehouse_ops.open_slices.pages_read IS ${sql.lit(words)}`.execute(db)
}

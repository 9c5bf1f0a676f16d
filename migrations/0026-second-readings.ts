import { type Kysely, sql } from 'kysely'

/** A second reading proves what has no total; nothing stands in for a reading that was not made. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM livehouse_ops.slices WHERE status = 'assumed'`.execute(db)
  await check(db, 'status', ['landed', 'moving', 'failed', 'forgotten'])
  await check(db, 'proof', ['verified', 'agreed', 'unverifiable', 'moving', 'short', 'accepted', 'failed'])
  await sql`DROP TABLE livehouse_ops.walk_marks`.execute(db)
  await sql`ALTER TABLE livehouse_ops.slices ADD COLUMN lookback_days integer, ADD COLUMN page_size integer`.execute(db)
  // One reading had settled them: they are read a second time.
  await sql`UPDATE livehouse_ops.slices SET settled = NULL WHERE stream = 'gifts'`.execute(db)
  await sql`DROP INDEX livehouse_ops.slices_settled`.execute(db)
  await sql`CREATE INDEX slices_settled ON livehouse_ops.slices (stream, partition)
    INCLUDE (settled, lookback_days, started_at) WHERE status = 'landed' AND settled IS NOT NULL`.execute(db)
  await describe(db, {
    status:
      'landed: all its rows are committed; moving: the list moved, it is read again; failed: it did not get to its end; forgotten: an operator wants it read again',
    proof:
      'How complete it is known to be: verified, agreed, unverifiable, moving, short, accepted or failed; docs/operations.md says what each means',
    settled:
      'The part of what it covers that is not read again: its rows had stopped changing, and the reading changed, missed and lost nothing against the one before; NULL for none',
    lookback_days:
      'How many days rows may still change, as it was when it was read; NULL for readings before this was kept',
    page_size:
      'Rows of a page as they came; NULL where all rows lay on one page, or pages of two sizes brought the same',
  })
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`UPDATE livehouse_ops.slices SET proof = 'unverifiable' WHERE proof = 'agreed'`.execute(db)
  await check(db, 'status', ['landed', 'moving', 'failed', 'forgotten', 'assumed'])
  await check(db, 'proof', ['verified', 'unverifiable', 'moving', 'short', 'accepted', 'failed', 'assumed'])
  await sql`DROP INDEX livehouse_ops.slices_settled`.execute(db)
  await sql`CREATE INDEX slices_settled ON livehouse_ops.slices (stream, partition) INCLUDE (settled)
    WHERE status = 'landed' AND settled IS NOT NULL`.execute(db)
  await sql`ALTER TABLE livehouse_ops.slices DROP COLUMN lookback_days, DROP COLUMN page_size`.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.walk_marks (
      stream text NOT NULL,
      partition text NOT NULL,
      total bigint NOT NULL,
      first_page text NOT NULL,
      walked_at timestamptz NOT NULL,
      run_id bigint NOT NULL,
      PRIMARY KEY (stream, partition)
    )
  `.execute(db)
}

async function check(db: Kysely<unknown>, column: string, words: readonly string[]): Promise<void> {
  const name = sql.id(`slices_${column}_check`)
  const allowed = sql.join(words.map((word) => sql.lit(word)))
  await sql`ALTER TABLE livehouse_ops.slices DROP CONSTRAINT ${name},
    ADD CONSTRAINT ${name} CHECK (${sql.ref(column)} IN (${allowed}))`.execute(db)
}

async function describe(db: Kysely<unknown>, comments: Readonly<Record<string, string>>): Promise<void> {
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN livehouse_ops.slices.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
}

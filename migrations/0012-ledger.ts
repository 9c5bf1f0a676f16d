import { type Kysely, sql } from 'kysely'

/** Coverage as intervals: what a slice read beside what it proves, backfills, and the headers of questionnaires. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.slices
    ADD COLUMN reads tsrange CHECK (lower_inc(reads) AND NOT upper_inc(reads)),
    ADD COLUMN settled tsrange CHECK (lower_inc(settled) AND NOT upper_inc(settled)),
    ADD COLUMN backfill_id bigint,
    DROP CONSTRAINT slices_status_check,
    ADD CONSTRAINT slices_status_check CHECK (status IN ('landed', 'moving', 'failed', 'forgotten'))`.execute(db)
  await sql`CREATE INDEX slices_coverage ON livehouse_ops.slices (stream, partition) INCLUDE (covers)
    WHERE status = 'landed' AND covers IS NOT NULL`.execute(db)
  await sql`CREATE INDEX slices_settled ON livehouse_ops.slices (stream, partition) INCLUDE (settled)
    WHERE status = 'landed' AND settled IS NOT NULL`.execute(db)
  await sql`CREATE INDEX slices_backfill ON livehouse_ops.slices (backfill_id) WHERE backfill_id IS NOT NULL`.execute(
    db,
  )
  await sql`
    CREATE TABLE livehouse_ops.backfills (
      backfill_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      arguments jsonb NOT NULL,
      status text NOT NULL CHECK (status IN ('open', 'finished', 'abandoned')),
      started_at timestamptz NOT NULL,
      finished_at timestamptz
    )
  `.execute(db)
  await sql`CREATE UNIQUE INDEX backfills_open ON livehouse_ops.backfills (arguments) WHERE status = 'open'`.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.headers (
      partition text NOT NULL PRIMARY KEY,
      title jsonb NOT NULL,
      seen_at timestamptz NOT NULL,
      run_id bigint NOT NULL
    )
  `.execute(db)
  for (const [table, comment] of Object.entries(tables)) {
    await sql`COMMENT ON TABLE ${sql.table(`livehouse_ops.${table}`)} IS ${sql.lit(comment)}`.execute(db)
  }
  for (const [table, columns] of Object.entries(comments)) {
    for (const [column, comment] of Object.entries(columns)) {
      const name = sql`${sql.table(`livehouse_ops.${table}`)}.${sql.ref(column)}`
      await sql`COMMENT ON COLUMN ${name} IS ${sql.lit(comment)}`.execute(db)
    }
  }
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.headers`.execute(db)
  await sql`DROP TABLE livehouse_ops.backfills`.execute(db)
  await sql`DROP INDEX livehouse_ops.slices_coverage`.execute(db)
  await sql`DROP INDEX livehouse_ops.slices_settled`.execute(db)
  await sql`UPDATE livehouse_ops.slices SET status = 'failed' WHERE status IN ('moving', 'forgotten')`.execute(db)
  await sql`ALTER TABLE livehouse_ops.slices
    DROP COLUMN reads,
    DROP COLUMN settled,
    DROP COLUMN backfill_id,
    DROP CONSTRAINT slices_status_check,
    ADD CONSTRAINT slices_status_check CHECK (status IN ('landed', 'failed'))`.execute(db)
}

const tables = {
  backfills: 'Backfills: date ranges that are read again, covered or not; an open one is resumed by the same command',
  headers: 'Column headers of each questionnaire as last seen; other headers mean that all of it is read again',
}

const comments = {
  slices: {
    covers:
      'What it proves to be covered: the range that it read, without its youngest part; NULL where nothing is covered',
    status:
      'landed: all its rows are committed; moving: the list moved, it is read again; failed: it did not get to its end; forgotten: an operator wants it read again',
    reads: 'The range of the wall clock that it read, half-open; NULL for a walk over a whole list',
    settled:
      'The part of what it covers whose rows no longer changed when it was read; the rest, the lookback, is read again; NULL for none',
    backfill_id: 'The backfill that it belongs to (livehouse_ops.backfills)',
  },
  backfills: {
    backfill_id: 'Number of the backfill',
    arguments: 'What was asked for: range, streams, channels',
    status: 'open: to be resumed; finished; abandoned: begun anew with --restart',
    started_at: 'When it began',
    finished_at: 'When it ended; NULL while it is open',
  },
  headers: {
    partition: 'The questionnaire, as in slices',
    title: 'Its column headers, in order',
    seen_at: 'When they were first seen like this',
    run_id: 'The run that first saw them like this',
  },
}

import { type Kysely, sql } from 'kysely'

/** What a proven reading did not find, until the next one decides; what surprised: few rows, unknown fields. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.missed_rows (
      stream text NOT NULL,
      partition text NOT NULL,
      row_key text NOT NULL,
      missed_at timestamptz NOT NULL,
      run_id bigint NOT NULL,
      PRIMARY KEY (stream, partition, row_key)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.missed_rows IS 'Rows that the last proven reading of their walk or window did not find; when the next one misses them too they are marked as removed'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN livehouse_ops.missed_rows.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
  await sql`
    CREATE TABLE livehouse_ops.unknown_fields (
      stream text NOT NULL,
      field text NOT NULL,
      first_seen_at timestamptz NOT NULL,
      run_id bigint NOT NULL,
      PRIMARY KEY (stream, field)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.unknown_fields IS 'Fields of the source that the interface description does not know; each is reported once'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(fieldComments)) {
    await sql`COMMENT ON COLUMN livehouse_ops.unknown_fields.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
  await sql`ALTER TABLE livehouse_ops.slices ADD COLUMN is_drop boolean NOT NULL DEFAULT false`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.slices.is_drop IS 'Whether it found over a tenth fewer rows than were there before: short until another at least an hour later agrees'`.execute(
    db,
  )
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.slices DROP COLUMN is_drop`.execute(db)
  await sql`DROP TABLE livehouse_ops.unknown_fields`.execute(db)
  await sql`DROP TABLE livehouse_ops.missed_rows`.execute(db)
}

const comments = {
  stream: 'Stream of the row',
  partition: 'Partition of the row, such as channel=9',
  row_key: "The part of the row's key that the partition does not name",
  missed_at: 'When it was missed',
  run_id: 'The run that missed it',
}

const fieldComments = {
  stream: 'Stream of the field',
  field: 'Name of the field at the source; its values stand in extra',
  first_seen_at: 'When it was first seen',
  run_id: 'The run that first saw it',
}

import { type Kysely, sql } from 'kysely'

/** Which fields the source gives, so that one that vanishes is noticed, and which ranges an audit wants to see read again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.known_fields (
      stream text NOT NULL,
      partition text NOT NULL,
      field text NOT NULL,
      missing_since timestamptz,
      accepted_at timestamptz,
      reason text,
      PRIMARY KEY (stream, partition, field)
    )
  `.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.reopened_ranges (
      stream text NOT NULL,
      partition text NOT NULL,
      range tsrange NOT NULL,
      reopened_at timestamptz NOT NULL,
      PRIMARY KEY (stream, partition, range)
    )
  `.execute(db)
  for (const [name, { table, columns }] of Object.entries(comments)) {
    const id = sql.table(`livehouse_ops.${name}`)
    await sql`COMMENT ON TABLE ${id} IS ${sql.lit(table)}`.execute(db)
    for (const [column, text] of Object.entries(columns))
      await sql`COMMENT ON COLUMN ${id}.${sql.ref(column)} IS ${sql.lit(text)}`.execute(db)
  }
  await commentOnResolved(
    db,
    'When it became a row, or proven readings of all where it may lie no longer brought it; NULL while it is unreadable, and again when it comes back',
  )
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.reopened_ranges`.execute(db)
  await sql`DROP TABLE livehouse_ops.known_fields`.execute(db)
  await commentOnResolved(
    db,
    'When it became a row, or a proven reading of its whole list no longer brought it; NULL while it is unreadable, and again when it comes back',
  )
}

async function commentOnResolved(db: Kysely<unknown>, text: string): Promise<void> {
  await sql`COMMENT ON COLUMN livehouse_ops.quarantine.resolved_at IS ${sql.lit(text)}`.execute(db)
}

const comments = {
  known_fields: {
    table:
      'Fields that items of a partition have had; where a slice has one in none of its items any more, the interface has changed',
    columns: {
      stream: 'Name of the stream',
      partition: 'Part of the stream, as in slices',
      field: 'Name of the field at the source',
      missing_since: 'When a slice first had it in none of its items; NULL while it is there',
      accepted_at: 'When an operator accepted that it is missing; NULL where nobody has',
      reason: 'Why, in the words of the operator',
    },
  },
  reopened_ranges: {
    table: 'Ranges in which an audit found a difference, until they have been read again',
    columns: {
      stream: 'Name of the stream',
      partition: 'Part of the stream, as in slices',
      range: "Half-open, in the service's time",
      reopened_at: 'When the audit took it out of what is covered',
    },
  },
}

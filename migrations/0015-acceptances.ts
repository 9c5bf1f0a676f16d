import { type Kysely, sql } from 'kysely'

/** Shortfalls that an operator has acknowledged, which runs made use of them, and how much each slice lacks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.acceptances (
      acceptance_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      stream text NOT NULL,
      channel_id text,
      ranges tsmultirange,
      missing_rows bigint NOT NULL CHECK (missing_rows > 0),
      reason text NOT NULL,
      accepted_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL CHECK (expires_at > accepted_at),
      withdrawn_at timestamptz
    )
  `.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.acceptance_uses (
      acceptance_id bigint NOT NULL REFERENCES livehouse_ops.acceptances ON DELETE CASCADE,
      run_id bigint NOT NULL REFERENCES livehouse_ops.runs ON DELETE CASCADE,
      missing_rows bigint NOT NULL,
      PRIMARY KEY (acceptance_id, run_id)
    )
  `.execute(db)
  await sql`ALTER TABLE livehouse_ops.slices
    ADD COLUMN missing_rows bigint,
    ADD COLUMN acceptance_id bigint REFERENCES livehouse_ops.acceptances`.execute(db)
  await sql`CREATE INDEX slices_acceptance ON livehouse_ops.slices (acceptance_id) WHERE acceptance_id IS NOT NULL`.execute(
    db,
  )
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

/** A slice that was accepted is short again. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`UPDATE livehouse_ops.slices SET status = 'failed', proof = 'short' WHERE proof = 'accepted'`.execute(db)
  await sql`DROP INDEX livehouse_ops.slices_acceptance`.execute(db)
  await sql`ALTER TABLE livehouse_ops.slices DROP COLUMN acceptance_id, DROP COLUMN missing_rows`.execute(db)
  await sql`DROP TABLE livehouse_ops.acceptance_uses`.execute(db)
  await sql`DROP TABLE livehouse_ops.acceptances`.execute(db)
}

const tables = {
  acceptances:
    'Shortfalls that an operator has acknowledged (livehouse accept): up to their size they no longer make runs partial',
  acceptance_uses:
    'How much of an acceptance the slices of one run have taken together: its size holds for all of them',
}

const comments = {
  acceptances: {
    acceptance_id: 'Number of the acceptance',
    stream: 'Stream that falls short',
    channel_id: 'Channel that falls short, in all its partitions; NULL for a stream of the account',
    ranges: 'Ranges of the wall clock in which it fell short; NULL for a walk over a whole list',
    missing_rows: 'Size: so many rows may be missing; more are short again',
    reason: 'Why it is accepted, in the words of the operator',
    accepted_at: 'When it was accepted',
    expires_at: 'From then on it no longer counts',
    withdrawn_at: 'When it was taken back, or a larger one took its place; NULL while it stands',
  },
  acceptance_uses: {
    acceptance_id: 'The acceptance',
    run_id: 'The run',
    missing_rows: 'Rows that its accepted slices lack together',
  },
  slices: {
    missing_rows:
      'How many rows it lacks: of the total of the source, or of what was there before; NULL where none is known to be missing',
    acceptance_id: 'The acceptance by which it counts as accepted; NULL for every other proof',
  },
}

import { type Kysely, sql } from 'kysely'

/** What a probe found out about the service. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.source_facts (
      topic text NOT NULL,
      subject text NOT NULL,
      answer text,
      evidence text NOT NULL,
      found_at timestamptz NOT NULL,
      run_id bigint NOT NULL,
      PRIMARY KEY (topic, subject)
    )
  `.execute(db)
  const table = sql.table('livehouse_ops.source_facts')
  await sql`COMMENT ON TABLE ${table} IS ${sql.lit(comment)}`.execute(db)
  for (const [column, text] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${table}.${sql.ref(column)} IS ${sql.lit(text)}`.execute(db)
  }
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.source_facts`.execute(db)
}

const comment =
  'What the documents of the service leave open and livehouse probe has found out; nothing that is read depends on it'

const comments = {
  topic: 'What was to be found out',
  subject: 'The endpoint that was asked, or account',
  answer: 'What was found; NULL where it cannot be known, as the evidence says',
  evidence: 'What was asked and what came, without personal data',
  found_at: 'When it was found',
  run_id: 'The run that found it',
}

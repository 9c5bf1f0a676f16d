import { type Kysely, sql } from 'kysely'

/** Questionnaires of which analysts have a view of their own in livehouse_forms. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
  for (const [column, comment] of Object.entries(comments)) {
    const name = sql.ref(`livehouse_ops.published_forms.${column}`)
    await sql`COMMENT ON COLUMN ${name} IS ${sql.lit(comment)}`.execute(db)
  }
}

/** The views go before, with all that livehouse publishes. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.published_forms`.execute(db)
}

const statements: readonly string[] = [
  `CREATE TABLE livehouse_ops.published_forms (
    channel_id text NOT NULL,
    question_id text NOT NULL,
    view_name text NOT NULL UNIQUE,
    fingerprint text,
    PRIMARY KEY (channel_id, question_id)
  )`,
  `COMMENT ON TABLE livehouse_ops.published_forms IS 'Questionnaires that have a view of their own in livehouse_forms (livehouse forms publish)'`,
]

const comments = {
  channel_id: 'Channel id',
  question_id: 'Questionnaire hash id',
  view_name: 'Name of its view in livehouse_forms',
  fingerprint: 'Of the view as it was last made; NULL before that',
}

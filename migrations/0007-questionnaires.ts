import { type Kysely, sql } from 'kysely'

/** Questionnaires of a channel, one row each (API 4.10). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.questionnaires (
      channel_id text NOT NULL,
      question_id text NOT NULL,
      name text,
      position smallint,
      is_open boolean,
      created_at timestamptz,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (channel_id, question_id)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.questionnaires IS 'Questionnaires of a channel, one row each (API 4.10)'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.questionnaires')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(
      db,
    )
  }
}

/** Without its rows nothing of the stream is covered any more: the next sync after a new `up` reads all of it. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.questionnaires`.execute(db)
  await sql`DELETE FROM livehouse_ops.slices WHERE stream = 'questionnaires'`.execute(db)
}

const comments = {
  channel_id: 'Channel id',
  question_id: 'Questionnaire hash id',
  name: 'Questionnaire name',
  position: '0 inside the watch page, 1 before it',
  is_open: 'Whether the questionnaire is on',
  created_at: 'Creation',
  extra:
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

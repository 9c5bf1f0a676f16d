import { type Kysely, sql } from 'kysely'

/**
 * A question is cleared by its number and header: another with the same header keeps its mask. Of what was cleared, the questions
 * whose header no other of the questionnaire has stay so; the others have to be cleared again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.cleared_questions ADD COLUMN question_no smallint`.execute(db)
  await sql`
    UPDATE livehouse_ops.cleared_questions AS cleared SET question_no = known.question_no
    FROM (
      SELECT headers.partition, coalesce(title.header, '') AS question, min(title.no - 3)::smallint AS question_no
      FROM livehouse_ops.headers, jsonb_array_elements_text(headers.title) WITH ORDINALITY AS title (header, no)
      WHERE title.no > 3 AND title.no < jsonb_array_length(headers.title)
      GROUP BY headers.partition, question HAVING count(*) = 1
    ) AS known
    WHERE known.partition = 'channel=' || cleared.channel_id || '/question=' || cleared.question_id
      AND known.question = cleared.question
  `.execute(db)
  await sql`DELETE FROM livehouse_ops.cleared_questions WHERE question_no IS NULL`.execute(db)
  await sql`ALTER TABLE livehouse_ops.cleared_questions DROP CONSTRAINT cleared_questions_pkey,
    ADD PRIMARY KEY (channel_id, question_id, question_no)`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.cleared_questions.question_no IS 'Its number, from 1'`.execute(db)
  await comment(db, 'Its header; empty where it has none. With another one it is another question')
}

/** Who looks by the header alone would find the namesakes of what was cleared: nothing stays cleared. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM livehouse_ops.cleared_questions`.execute(db)
  await sql`ALTER TABLE livehouse_ops.cleared_questions DROP COLUMN question_no,
    ADD PRIMARY KEY (channel_id, question_id, question)`.execute(db)
  await comment(db, 'Header of the question; empty where it has none. With another header it is another question')
}

async function comment(db: Kysely<unknown>, words: string): Promise<void> {
  await sql`COMMENT ON COLUMN livehouse_ops.cleared_questions.question IS ${sql.lit(words)}`.execute(db)
}

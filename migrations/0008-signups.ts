import { type Kysely, sql } from 'kysely'

/** Signups, one row an answered questionnaire (API 4.11), and their answers, one row a question. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.signups (
      channel_id text NOT NULL,
      question_id text NOT NULL,
      signup_key text NOT NULL,
      user_id text,
      nickname text,
      phone text,
      signed_up_at timestamptz,
      answers jsonb,
      occurrence integer NOT NULL,
      removed_at timestamptz,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (channel_id, question_id, signup_key)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.signups IS 'Signups, one row an answered questionnaire (API 4.11)'`.execute(db)
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.signups')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
  await sql`
    CREATE TABLE livehouse.signup_answers (
      channel_id text NOT NULL,
      question_id text NOT NULL,
      signup_key text NOT NULL,
      question_no smallint NOT NULL,
      question text,
      answer text,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (channel_id, question_id, signup_key, question_no)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.signup_answers IS 'Answers of a signup, one row a question (API 4.11)'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(answerComments)) {
    await sql`COMMENT ON COLUMN livehouse.signup_answers.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
}

/** Without its rows nothing of the stream is covered any more: the next sync after a new `up` reads all of it. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.signup_answers`.execute(db)
  await sql`DROP TABLE livehouse.signups`.execute(db)
  await sql`DELETE FROM livehouse_ops.slices WHERE stream = 'signups'`.execute(db)
}

const comments = {
  channel_id: 'Channel id',
  question_id: 'Questionnaire hash id',
  signup_key: 'Identity of the signup: viewer and time, and its number among equal ones',
  user_id: 'Viewer id (first column)',
  nickname: 'Nickname (second column)',
  phone: 'Phone (third column)',
  signed_up_at: 'When the viewer signed up (last column)',
  answers: 'Array of {"question", "answer"} in the order of the columns between phone and signup time',
  occurrence: '1, 2 … among the signups with equal user_id and signed_up_at',
  removed_at: 'When two proven reads in a row no longer found the row at the source; NULL while it is there',
  extra:
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

const answerComments = {
  channel_id: 'Channel id',
  question_id: 'Questionnaire hash id',
  signup_key: 'The signup that the answer belongs to',
  question_no: 'Number of the question, from 1, in the order of the questionnaire',
  question: 'Header of the question, free text of the operator',
  answer: 'Answer as it came; several choices are joined by ||',
  extra: comments.extra,
  run_id: comments.run_id,
  inserted_at: comments.inserted_at,
  changed_at: comments.changed_at,
}

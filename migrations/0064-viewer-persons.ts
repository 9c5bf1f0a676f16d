import { type Kysely, sql } from 'kysely'

/** Who the viewers are across channels: put together after each run by what they share. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.viewer_persons (
      channel_id text NOT NULL,
      user_id text NOT NULL,
      outer_id text,
      assign_id text,
      phone text,
      person text NOT NULL,
      PRIMARY KEY (channel_id, user_id)
    )
  `.execute(db)
  await sql`ALTER TABLE livehouse_ops.bi_settings ADD COLUMN ignored_ids text[] NOT NULL DEFAULT ${sql.lit(IGNORED)}`.execute(
    db,
  )
  await sql`COMMENT ON COLUMN livehouse_ops.bi_settings.ignored_ids IS
    'Ids and phones that stand for none, without blanks and in lower case (LIVEHOUSE_IGNORED_IDS)'`.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.viewer_persons IS
    'Viewers who are known by more than their viewer id, and which person each is; renewed after each run'`.execute(db)
  for (const [name, text] of Object.entries(comments))
    await sql`COMMENT ON COLUMN livehouse_ops.viewer_persons.${sql.ref(name)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.viewer_persons`.execute(db)
  await sql`ALTER TABLE livehouse_ops.bi_settings DROP COLUMN ignored_ids`.execute(db)
}

const IGNORED =
  '{0,-,"null",none,nil,n/a,na,undefined,unknown,test,anonymous,guest,无,没有,未知,匿名,00000000000,11111111111,12345678900,' +
  '12345678901,12345678910,13000000000,13800000000,13888888888,18888888888,99999999999}'

const comments = {
  channel_id: 'Channel id',
  user_id: 'Viewer id',
  outer_id: 'External account id without blanks and in lower case; NULL where there is none or it is ignored',
  assign_id: 'Assigned id, in the same way',
  phone: 'Phone number, 11 digits at most; NULL where there is none, it cannot identify or it is ignored',
  person:
    'The person, equal for all viewers who share an id, also by way of others: 1 and the smallest external id of them, else 2 and the smallest assigned id, else 3 and the smallest phone',
}

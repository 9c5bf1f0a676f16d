import { type Kysely, sql } from 'kysely'

/** Manager accounts, one row each (API 4.9). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.managers (
      manager_id bigint NOT NULL,
      username text,
      main_account_id bigint,
      limit_type smallint,
      traffic_limit bigint,
      time_limit bigint,
      pay_type smallint,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (manager_id)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.managers IS 'Manager accounts, one row each (API 4.9)'`.execute(db)
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.managers')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(
      db,
    )
  }
}

/** Without its rows nothing of the stream is covered any more: the next sync after a new `up` reads all of it. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.managers`.execute(db)
  await sql`DELETE FROM livehouse_ops.slices WHERE stream = 'managers'`.execute(db)
}

const comments = {
  manager_id: 'Manager id',
  username: 'User name; leading zeros count',
  main_account_id: 'Main account id',
  limit_type: '1 duration, 2 traffic',
  traffic_limit: 'Traffic limit of the account',
  time_limit: 'Duration limit of the account',
  pay_type: 'Consumption type; its values are not documented',
  extra:
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

import { type Kysely, sql } from 'kysely'

/** Gifts to a channel, one row each, cash and prop (API 4.12). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.gifts (
      channel_id text NOT NULL,
      gift_type text NOT NULL,
      gift_key text NOT NULL,
      given_at timestamptz,
      gift_id bigint,
      visitor_id text,
      visitor_name text,
      phone text,
      amount numeric(14,2),
      occurrence integer NOT NULL,
      removed_at timestamptz,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (channel_id, gift_type, gift_key)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.gifts IS 'Gifts to a channel, one row each, cash and prop (API 4.12)'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.gifts')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
}

/** Without its rows nothing of the stream is covered any more: the next sync after a new `up` reads all of it. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.gifts`.execute(db)
  await sql`DELETE FROM livehouse_ops.slices WHERE stream = 'gifts'`.execute(db)
}

const comments = {
  channel_id: 'Channel id',
  gift_type: 'cash or prop',
  gift_key: 'Identity of the gift: time, gift and amount, and its number among equal ones',
  given_at: 'When the gift was given',
  gift_id: 'Prop id',
  visitor_id: 'Viewer id; the service does not always say it',
  visitor_name: 'Viewer name; the service does not always say it',
  phone: 'Mobile phone number as the service has it',
  amount: 'Reward amount; the service does not say its currency',
  occurrence: '1, 2 … among the gifts of one channel and type with equal given_at, gift_id and amount',
  removed_at: 'When two proven reads in a row no longer found the row at the source; NULL while it is there',
  extra:
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

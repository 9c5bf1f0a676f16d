import { type Kysely, sql } from 'kysely'

/** The configured channels, and what the service says of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.channels (
      channel_id text NOT NULL PRIMARY KEY,
      name text,
      admin_id bigint,
      label text,
      channel_group text,
      is_test boolean NOT NULL DEFAULT false,
      state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'retired', 'gone')),
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now()
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.channels IS 'Channels, one row each: every configured one, also before anything of it has landed'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.channels')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(
      db,
    )
  }
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.channels`.execute(db)
}

const comments = {
  channel_id: 'Channel id',
  name: 'Channel name, as the visitor list has it (API 2.5 name)',
  admin_id: 'Administrator id (API 2.5 uin)',
  label: 'The label that the operator gave the channel (LIVEHOUSE_CHANNELS)',
  channel_group: 'The group that the operator put the channel in (LIVEHOUSE_CHANNELS)',
  is_test: 'Whether the operator marked the channel as a test (LIVEHOUSE_CHANNELS)',
  state: 'active: configured; retired: no longer configured; gone: configured, but the service no longer knows it',
  extra: 'Always NULL here: the service has no list of channels of its own',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

import { type Kysely, sql } from 'kysely'

/** Watch records, one row a visit of a viewer to a channel (API 4.5, and 4.6 where only that has the record). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.watch_records (
      channel_id text NOT NULL,
      record_id bigint NOT NULL,
      user_id text,
      assign_id text,
      outer_id text,
      nickname text,
      address text,
      phone text,
      device text,
      browser text,
      access_source text,
      online_seconds integer,
      watch_seconds integer,
      live_seconds integer,
      vod_seconds integer,
      entered_at timestamptz,
      left_at timestamptz,
      api_version smallint NOT NULL,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (channel_id, record_id)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.watch_records IS 'Watch records, one row a visit of a viewer to a channel (API 4.5, and 4.6 where only that has the record)'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.watch_records')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(
      db,
    )
  }
}

/** Without its rows nothing of the stream is covered any more: the next sync after a new `up` reads all of it. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.watch_records`.execute(db)
  await sql`DELETE FROM livehouse_ops.slices WHERE stream = 'watch_records'`.execute(db)
}

const comments = {
  channel_id: 'Channel id',
  record_id: 'Watch record id',
  user_id: 'Viewer id',
  assign_id: 'Third-party id that the company assigned to the viewer',
  outer_id: 'External account id of the viewer',
  nickname: 'Nickname; not unique, made up from the region for anonymous viewers',
  address: 'Address, province and city without a separator',
  phone: 'Mobile phone number as the service has it',
  device: 'Watching device, display text of the service',
  browser: 'Watching method, display text of the service',
  access_source: 'Where the viewer came from',
  online_seconds: 'Online duration in seconds',
  watch_seconds: 'Watch duration in seconds',
  live_seconds: 'Live watch duration in seconds',
  vod_seconds: 'On-demand watch duration in seconds',
  entered_at: 'Entry; the service may give it to the minute only',
  left_at: 'Leave; moves while the viewer is online',
  api_version: '2, or 1 where only version 1 of the interface delivered the record',
  extra:
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

import { type Kysely, sql } from 'kysely'

/** Viewers of a channel, one row each, with totals over all their visits (API 4.7). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.visitors (
      channel_id text NOT NULL,
      user_id text NOT NULL,
      assign_id text,
      outer_id text,
      nickname text,
      address text,
      phone text,
      access_source text,
      device text,
      browser text,
      wx_openid text,
      last_ip inet,
      visit_count integer,
      share_count integer,
      comment_count integer,
      watch_seconds integer,
      live_seconds integer,
      vod_seconds integer,
      live_watch_seconds integer,
      vod_watch_seconds integer,
      online_seconds integer,
      first_login_at timestamptz,
      last_online_at timestamptz,
      removed_at timestamptz,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (channel_id, user_id)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.visitors IS 'Viewers of a channel, one row each, with totals over all their visits (API 4.7)'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.visitors')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(
      db,
    )
  }
}

/** Without its rows nothing of the stream is covered any more: the next sync after a new `up` reads all of it. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.visitors`.execute(db)
  await sql`DELETE FROM livehouse_ops.slices WHERE stream = 'visitors'`.execute(db)
}

const comments = {
  channel_id: 'Channel id',
  user_id: 'Viewer id',
  assign_id: 'Third-party id that the company assigned to the viewer',
  outer_id: 'External account id of the viewer',
  nickname: 'Nickname; not unique, made up from the region for anonymous viewers',
  address: 'Address, province and city without a separator',
  phone: 'Mobile phone number as the service has it',
  access_source: 'Where the viewer came from',
  device: 'Device of the last visit, display text of the service',
  browser: 'Browser of the last visit, display text of the service',
  wx_openid: 'Open id of a social-network account',
  last_ip: 'IP address of the last login',
  visit_count: 'Number of visits',
  share_count: 'Number of shares',
  comment_count: 'Number of chat messages',
  watch_seconds: 'Total watch duration in seconds',
  live_seconds: 'Live watch duration in seconds',
  vod_seconds: 'On-demand watch duration in seconds',
  live_watch_seconds: 'Live watch duration in seconds, as the service counts seconds',
  vod_watch_seconds: 'On-demand watch duration in seconds, as the service counts seconds',
  online_seconds: 'Online duration in seconds',
  first_login_at: 'First entry',
  last_online_at: 'Last time online',
  removed_at: 'When two proven reads in a row no longer found the row at the source; NULL while it is there',
  extra:
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

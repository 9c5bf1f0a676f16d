import { type Kysely, sql } from 'kysely'

/** Usage of manager accounts, one row an account and day of the service on which it was read (API 4.8). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse.manager_usage (
      manager_id bigint NOT NULL,
      snapshot_date date NOT NULL,
      username text,
      created_on date,
      main_account_id bigint,
      channel_count integer,
      last_login_at timestamptz,
      last_push_at timestamptz,
      cost_limit_notification boolean,
      limit_type smallint,
      outer_id text,
      redpack_enabled boolean,
      live_notify_enabled boolean,
      cost_type text,
      cost_limit numeric,
      cost_total_watch numeric,
      cost_vod_watch numeric,
      cost_live_watch numeric,
      cost_transfer numeric,
      extra jsonb,
      run_id bigint NOT NULL,
      inserted_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (manager_id, snapshot_date)
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse.manager_usage IS 'Usage of manager accounts, one row an account and day of the service on which it was read (API 4.8)'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN ${sql.table('livehouse.manager_usage')}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(
      db,
    )
  }
}

/** Without its rows nothing of the stream is covered any more: the next sync after a new `up` reads all of it. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse.manager_usage`.execute(db)
  await sql`DELETE FROM livehouse_ops.slices WHERE stream = 'manager_usage'`.execute(db)
}

const comments = {
  manager_id: 'Manager id',
  snapshot_date: 'Day of the service on which the usage was read',
  username: 'User name; leading zeros count',
  created_on: 'Creation date of the account',
  main_account_id: 'Main account id',
  channel_count: 'Number of channels',
  last_login_at: 'Last login',
  last_push_at: 'Last stream push',
  cost_limit_notification: 'Whether the account is told when the consumption limit is reached',
  limit_type: '1 duration (minutes), 2 traffic (GB); the unit of the costs',
  outer_id: 'Third-party id of the guest',
  redpack_enabled: 'Whether red packets are enabled',
  live_notify_enabled: 'Whether live subscription is enabled',
  cost_type: 'Consumption type, display text of the service',
  cost_limit: 'Consumption limit in the unit of limit_type; 0 is unlimited',
  cost_total_watch: 'Total watch duration consumed',
  cost_vod_watch: 'On-demand watch duration consumed',
  cost_live_watch: 'Live watch duration consumed',
  cost_transfer: 'Traffic consumed, in GB',
  extra:
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
  run_id: 'The run that last changed the row (livehouse_ops.runs)',
  inserted_at: 'When the row was first written',
  changed_at: 'When the content of the row last changed',
}

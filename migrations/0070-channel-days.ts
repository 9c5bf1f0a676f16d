import { type Kysely, sql } from 'kysely'

/** What the watch records of each channel and day add up to, and which days have changed since. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.channel_days (
      channel_id text NOT NULL,
      day date NOT NULL,
      viewers bigint,
      watched_viewers bigint,
      viewers_over_one_minute bigint,
      live_viewers bigint,
      visits bigint,
      watched_visits bigint,
      watch_seconds bigint,
      live_seconds bigint,
      replay_seconds bigint,
      peak_viewers bigint,
      peak_live_viewers bigint,
      live_spans int8multirange,
      run_id bigint,
      refreshed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (channel_id, day)
    )
  `.execute(db)
  await sql`CREATE TABLE livehouse_ops.changed_channel_days (channel_id text NOT NULL, day date NOT NULL)`.execute(db)
  await sql`CREATE INDEX changed_channel_days_place ON livehouse_ops.changed_channel_days (day, channel_id)`.execute(db)
  for (const [name, text] of Object.entries(comments))
    await sql`COMMENT ON ${sql.raw(name)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.channel_days, livehouse_ops.changed_channel_days`.execute(db)
}

const column = 'COLUMN livehouse_ops.channel_days.'
const comments = {
  'TABLE livehouse_ops.channel_days':
    'What the watch records of a channel and day add up to; it holds where changed_channel_days does not have the day',
  [`${column}channel_id`]: 'Channel id',
  [`${column}day`]: 'Day of the service, in the zone of livehouse_ops.bi_settings',
  [`${column}viewers`]:
    'Distinct viewers who entered; NULL, as the sums, where records of days before last into it alone',
  [`${column}watched_viewers`]: 'Distinct viewers who watched anything',
  [`${column}viewers_over_one_minute`]: 'Distinct viewers who watched a minute or more in all',
  [`${column}live_viewers`]: 'Distinct viewers who watched live; NULL where no record tells',
  [`${column}visits`]: 'Records that began on the day',
  [`${column}watched_visits`]: 'Of these, records in which anything was watched',
  [`${column}watch_seconds`]: 'Watched, in seconds',
  [`${column}live_seconds`]: 'Watched live, in seconds; NULL where no record tells',
  [`${column}replay_seconds`]: 'Watched on demand, in seconds; NULL where no record tells',
  [`${column}peak_viewers`]: 'Most records at once; NULL where none tells how long it lasted',
  [`${column}peak_live_viewers`]: 'Most records with live seconds at once; NULL where no record tells',
  [`${column}live_spans`]: 'When somebody watched live, by the records that tell when: seconds of the epoch',
  [`${column}run_id`]: 'The last run that had changed a record that began on the day',
  [`${column}refreshed_at`]: 'When this was worked out from the records',
  'TABLE livehouse_ops.changed_channel_days':
    'Days of channels whose watch records have changed since channel_days was worked out, a row a change; a trigger writes it',
  'COLUMN livehouse_ops.changed_channel_days.channel_id': 'Channel id',
  'COLUMN livehouse_ops.changed_channel_days.day': 'Day of the service',
}

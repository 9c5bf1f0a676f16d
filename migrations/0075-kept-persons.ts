import { type Kysely, sql } from 'kysely'

/** Persons of several viewers as they were added up, and in which channels viewers have changed since. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.kept_persons (
      token bigint NOT NULL,
      person text NOT NULL,
      channels text[] NOT NULL,
      outer_id text,
      assign_id text,
      nickname text,
      phone text,
      viewer_count bigint NOT NULL,
      visit_count bigint,
      watch_seconds bigint,
      live_seconds bigint,
      vod_seconds bigint,
      first_login_at timestamptz,
      last_online_at timestamptz
    )
  `.execute(db)
  await sql`CREATE TABLE livehouse_ops.changed_persons (channel_id text NOT NULL)`.execute(db)
  for (const [name, text] of Object.entries(comments))
    await sql`COMMENT ON ${sql.raw(name)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.kept_persons, livehouse_ops.changed_persons`.execute(db)
}

const column = 'COLUMN livehouse_ops.kept_persons.'
const comments = {
  'TABLE livehouse_ops.kept_persons':
    'What the viewers of a person add up to; it holds where changed_persons has no channel of it, nor of its viewers',
  [`${column}token`]: 'Hash of the person, by which rows are joined and grouped: in their own order they would tell',
  [`${column}person`]: 'The person, as in viewer_persons',
  [`${column}channels`]: 'Channels of its viewers',
  [`${column}outer_id`]: 'External account id of the viewer who was online last of those who have one',
  [`${column}assign_id`]: 'Assigned id, in the same way',
  [`${column}nickname`]: 'Nickname, in the same way',
  [`${column}phone`]: 'Phone, in the same way',
  [`${column}viewer_count`]: 'How many viewers',
  [`${column}visit_count`]: 'Visits of all of them, by the visitor list',
  [`${column}watch_seconds`]: 'Watched, in seconds',
  [`${column}live_seconds`]: 'Watched live, in seconds',
  [`${column}vod_seconds`]: 'Watched on demand, in seconds',
  [`${column}first_login_at`]: 'First entry of one of them',
  [`${column}last_online_at`]: 'Last time online of one of them',
  'TABLE livehouse_ops.changed_persons':
    'Channels whose viewers, or their persons, have changed since kept_persons was worked out; triggers write it',
  'COLUMN livehouse_ops.changed_persons.channel_id': 'Channel id',
}

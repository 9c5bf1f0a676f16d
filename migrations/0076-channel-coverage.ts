import { type Kysely, sql } from 'kysely'

/** What of each channel has been read: several views for analysts ask for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
    CREATE VIEW livehouse_ops.channel_coverage AS
    SELECT c.channel_id,
      coalesce(w.covers, '{}') AS watch_covers, coalesce(w.settled, '{}') AS watch_settled,
      coalesce(g.covers, '{}') AS gift_covers, coalesce(g.settled, '{}') AS gift_settled,
      coalesce(s.covers, '{}') AS signup_covers, coalesce(s.settled, '{}') AS signup_settled,
      r.viewers_read_at
    FROM livehouse.channels c
    LEFT JOIN ${perChannel('watch_records', 1)} w ON w.channel_id = c.channel_id
    LEFT JOIN ${perChannel('gifts', 2)} g ON g.channel_id = c.channel_id
    LEFT JOIN (
      SELECT channel_id, max(walked_at) FILTER (WHERE stream = 'visitors') AS viewers_read_at,
        max(walked_at) FILTER (WHERE stream = 'questionnaires') AS questionnaires_read_at
      FROM livehouse_ops.latest_readings WHERE stream IN ('visitors', 'questionnaires') GROUP BY channel_id
    ) r ON r.channel_id = c.channel_id
    LEFT JOIN LATERAL (
      SELECT CASE WHEN count(q.question_id) > 0 THEN range_intersect_agg(coalesce(p.covers, '{}'))
          WHEN r.questionnaires_read_at IS NOT NULL THEN '{(,)}' END AS covers,
        CASE WHEN count(q.question_id) > 0 THEN range_intersect_agg(coalesce(p.settled, '{}'))
          WHEN r.questionnaires_read_at IS NOT NULL THEN '{(,)}' END AS settled
      FROM livehouse.questionnaires q
      LEFT JOIN ${perPartition('signups')} p
        ON p.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
      WHERE q.channel_id = c.channel_id AND NOT EXISTS (
        SELECT FROM livehouse_ops.unlisted_questionnaires u
          WHERE u.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
      )
    ) s ON true`)
    .execute(db)
  for (const [name, text] of Object.entries(comments))
    await sql`COMMENT ON ${sql.raw(name)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP VIEW livehouse_ops.channel_coverage`.execute(db)
}

const perPartition = (stream: string) =>
  `(SELECT * FROM livehouse_ops.latest_readings WHERE stream = '${stream}' AND covers <> '{}')`

/** Where all of its partitions are covered. */
const perChannel = (stream: string, partitions: number) => `(
      SELECT channel_id, CASE WHEN count(*) = ${partitions} THEN range_intersect_agg(covers) END AS covers,
        CASE WHEN count(*) = ${partitions} THEN range_intersect_agg(settled) END AS settled
      FROM ${perPartition(stream)} parts GROUP BY channel_id
    )`

const column = 'COLUMN livehouse_ops.channel_coverage.'
const comments = {
  'VIEW livehouse_ops.channel_coverage':
    'What of each channel has been read, as multiranges of the wall clock of the service: of several partitions, where all of them are covered',
  [`${column}channel_id`]: 'Channel id',
  [`${column}watch_covers`]: 'Times of which the watch records have been read',
  [`${column}watch_settled`]: 'Times of which they have been read when they no longer changed',
  [`${column}gift_covers`]: 'The same of the gifts of both types',
  [`${column}gift_settled`]: 'The same of the gifts of both types',
  [`${column}signup_covers`]: 'The same of the signups of all questionnaires',
  [`${column}signup_settled`]: 'The same of the signups of all questionnaires',
  [`${column}viewers_read_at`]: 'When the last whole reading of the visitor list began',
}

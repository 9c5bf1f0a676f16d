import { type Kysely, sql } from 'kysely'

/** Signups are known up to the last reading of the list of questionnaires, also an empty one: one may be made since. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const known = (ranges: string) =>
    `CASE WHEN r.questionnaires_read_at IS NOT NULL THEN
          coalesce(range_intersect_agg(coalesce(p.${ranges}, '{}')), '{(,)}') * tsmultirange(tsrange(NULL,
            r.questionnaires_read_at AT TIME ZONE coalesce((SELECT time_zone FROM livehouse_ops.source), 'UTC'))) END`
  await replaceView(db, known)
  await describe(db, 'The same of the signups of all questionnaires, up to the last reading of their list')
}

export async function down(db: Kysely<unknown>): Promise<void> {
  const known = (ranges: string) =>
    `CASE WHEN count(q.question_id) > 0 THEN range_intersect_agg(coalesce(p.${ranges}, '{}'))
          WHEN r.questionnaires_read_at IS NOT NULL THEN '{(,)}' END`
  await replaceView(db, known)
  await describe(db, 'The same of the signups of all questionnaires')
}

async function replaceView(db: Kysely<unknown>, known: (ranges: string) => string): Promise<void> {
  await sql
    .raw(`
    CREATE OR REPLACE VIEW livehouse_ops.channel_coverage AS
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
      SELECT ${known('covers')} AS covers,
        ${known('settled')} AS settled
      FROM livehouse.questionnaires q
      LEFT JOIN ${perPartition('signups')} p
        ON p.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
      WHERE q.channel_id = c.channel_id AND NOT EXISTS (
        SELECT FROM livehouse_ops.unlisted_questionnaires u
          WHERE u.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
      )
    ) s ON true`)
    .execute(db)
}

async function describe(db: Kysely<unknown>, text: string): Promise<void> {
  for (const name of ['signup_covers', 'signup_settled'])
    await sql`COMMENT ON COLUMN livehouse_ops.channel_coverage.${sql.raw(name)} IS ${sql.lit(text)}`.execute(db)
}

const perPartition = (stream: string) =>
  `(SELECT * FROM livehouse_ops.latest_readings WHERE stream = '${stream}' AND covers <> '{}')`

/** Where all of its partitions are covered. */
const perChannel = (stream: string, partitions: number) => `(
      SELECT channel_id, CASE WHEN count(*) = ${partitions} THEN range_intersect_agg(covers) END AS covers,
        CASE WHEN count(*) = ${partitions} THEN range_intersect_agg(settled) END AS settled
      FROM ${perPartition(stream)} parts GROUP BY channel_id
    )`

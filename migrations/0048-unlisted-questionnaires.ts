import { type Kysely, sql } from 'kysely'

/** A questionnaire that its channel no longer has is not read, so nothing of it is late, missing or open. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.unlisted_questionnaires (
      partition text PRIMARY KEY,
      run_id bigint NOT NULL,
      found_at timestamptz NOT NULL
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.unlisted_questionnaires IS ${sql.lit(tableWords)}`.execute(db)
  for (const [column, text] of Object.entries(comments))
    await sql`COMMENT ON COLUMN livehouse_ops.unlisted_questionnaires.${sql.ref(column)} IS ${sql.lit(text)}`.execute(
      db,
    )
  await replaceViews(
    db,
    sql`(${isRead} AND NOT EXISTS (
    SELECT FROM livehouse_ops.unlisted_questionnaires AS unlisted WHERE unlisted.partition = state.partition))`,
  )
  await describeActive(
    db,
    'Whether it is read: its channel is, and a questionnaire is still listed; true for the account',
  )
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await replaceViews(db, isRead)
  await describeActive(db, 'Whether the channel is read; true for streams of the account')
  await sql`DROP TABLE livehouse_ops.unlisted_questionnaires`.execute(db)
}

const isRead = sql`(state.channel_id IS NULL OR coalesce(channel.state = 'active', false))`

async function describeActive(db: Kysely<unknown>, words: string): Promise<void> {
  for (const view of ['latest_readings', 'open_readings'])
    await sql`COMMENT ON COLUMN ${sql.table(`livehouse_ops.${view}`)}.is_active IS ${sql.lit(words)}`.execute(db)
}

async function replaceViews(db: Kysely<unknown>, isActive: typeof isRead): Promise<void> {
  await sql`
    CREATE OR REPLACE VIEW livehouse_ops.latest_readings AS
    SELECT state.*, ${isActive} AS is_active
    FROM livehouse_ops.partition_states AS state LEFT JOIN livehouse.channels AS channel USING (channel_id)
    WHERE state.latest_slice_id IS NOT NULL
  `.execute(db)
  await sql`
    CREATE OR REPLACE VIEW livehouse_ops.open_readings AS
    SELECT reading.kind, reading.stream, reading.partition, state.channel_id, ${isActive} AS is_active, reading.reads,
      reading.slice_id, reading.proof, reading.error, reading.read_at, reading.missing_rows, reading.acceptance_id
    FROM (
      SELECT 'gap' AS kind, stream, partition, gap AS reads, NULL::bigint AS slice_id, NULL::text AS proof,
        NULL::text AS error, NULL::timestamptz AS read_at, NULL::bigint AS missing_rows, NULL::bigint AS acceptance_id
      FROM livehouse_ops.partition_states, unnest(tsmultirange(range_merge(covers)) - covers) AS gap
      UNION ALL
      SELECT 'problem', problem.* FROM (
        SELECT DISTINCT ON (bad.stream, bad.partition, bad.reads) bad.stream, bad.partition, bad.reads, bad.slice_id,
          bad.proof, bad.error, bad.finished_at, coalesce(bad.missing_rows,
            CASE WHEN NOT bad.is_drop THEN bad.largest_total - bad.distinct_rows - bad.quarantined_rows END), NULL::bigint
        FROM livehouse_ops.slices AS bad JOIN livehouse_ops.partition_states AS known USING (stream, partition)
        WHERE bad.status = 'failed' AND bad.proof <> 'accepted'
          AND CASE WHEN bad.reads IS NULL THEN bad.slice_id > coalesce(known.landed_slice_id, 0)
            ELSE NOT (known.covers @> coalesce(bad.covers, bad.reads) AND coalesce((
              SELECT range_agg(later.covers) @> coalesce(bad.covers, bad.reads) FROM livehouse_ops.slices AS later
              WHERE later.stream = bad.stream AND later.partition = bad.partition AND coalesce(later.piece_of, later.slice_id) > bad.slice_id
                AND later.status = 'landed' AND later.covers && coalesce(bad.covers, bad.reads)), false)) END
        ORDER BY bad.stream, bad.partition, bad.reads, bad.slice_id DESC
      ) AS problem
      UNION ALL
      SELECT 'accepted', stream, partition, reads, slice_id, proof, error, finished_at, missing_rows, acceptance_id
      FROM livehouse_ops.slices AS accepted
      WHERE acceptance_id IS NOT NULL AND proof = 'accepted' AND NOT EXISTS (
        SELECT FROM livehouse_ops.slices AS later
        WHERE later.stream = accepted.stream AND later.partition = accepted.partition
          AND coalesce(later.piece_of, later.slice_id) > accepted.slice_id AND later.status IN ('landed', 'moving')
          AND (accepted.reads IS NULL OR later.reads @> accepted.reads))
    ) AS reading
      JOIN livehouse_ops.partition_states AS state USING (stream, partition)
      LEFT JOIN livehouse.channels AS channel USING (channel_id)
  `.execute(db)
}

const tableWords = 'Known questionnaires that the last proven list of their channel no longer had: they are not read'

const comments = {
  partition: 'The questionnaire, as in slices',
  run_id: 'The run that first missed it',
  found_at: 'When that run read the list',
}

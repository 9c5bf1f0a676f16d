import { type Kysely, sql } from 'kysely'

/** What was covered before a reading that fell short or failed does not make it good: only what has been read since. */
const COVERED_SINCE = `(known.covers @> coalesce(bad.covers, bad.reads) AND coalesce((
              SELECT range_agg(later.covers) @> coalesce(bad.covers, bad.reads) FROM livehouse_ops.slices AS later
              WHERE later.stream = bad.stream AND later.partition = bad.partition AND later.slice_id > bad.slice_id
                AND later.status = 'landed' AND later.covers && coalesce(bad.covers, bad.reads)), false))`

export async function up(db: Kysely<unknown>): Promise<void> {
  await replaceView(db, COVERED_SINCE)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await replaceView(db, 'known.covers @> coalesce(bad.covers, bad.reads)')
}

/** @param isMadeGood of a window: whether it is covered, as SQL */
async function replaceView(db: Kysely<unknown>, isMadeGood: string): Promise<void> {
  await sql`
    CREATE OR REPLACE VIEW livehouse_ops.open_readings AS
    SELECT reading.kind, reading.stream, reading.partition, state.channel_id,
      state.channel_id IS NULL OR coalesce(channel.state = 'active', false) AS is_active, reading.reads,
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
            ELSE NOT ${sql.raw(isMadeGood)} END
        ORDER BY bad.stream, bad.partition, bad.reads, bad.slice_id DESC
      ) AS problem
      UNION ALL
      SELECT 'accepted', stream, partition, reads, slice_id, proof, error, finished_at, missing_rows, acceptance_id
      FROM livehouse_ops.slices AS accepted
      WHERE acceptance_id IS NOT NULL AND proof = 'accepted' AND NOT EXISTS (
        SELECT FROM livehouse_ops.slices AS later
        WHERE later.stream = accepted.stream AND later.partition = accepted.partition
          AND later.slice_id > accepted.slice_id AND later.status IN ('landed', 'moving')
          AND (accepted.reads IS NULL OR later.reads @> accepted.reads))
    ) AS reading
      JOIN livehouse_ops.partition_states AS state USING (stream, partition)
      LEFT JOIN livehouse.channels AS channel USING (channel_id)
  `.execute(db)
}

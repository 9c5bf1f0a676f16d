import { type Kysely, sql } from 'kysely'

/** What was accepted stands for the older problems of its range, which it had hidden as a problem: they are not listed again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await replaceView(db, '', "bad.proof <> 'accepted' AND ")
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await replaceView(db, " AND bad.proof <> 'accepted'", '')
}

/** @param isCounted what else holds of what stands for older problems @param isListed of a problem that is listed */
async function replaceView(db: Kysely<unknown>, isCounted: string, isListed: string): Promise<void> {
  await sql`
    CREATE OR REPLACE VIEW livehouse_ops.open_readings AS
    SELECT reading.kind, reading.stream, reading.partition, state.channel_id,
      (state.channel_id IS NULL OR coalesce(channel.state = 'active', false)) AND NOT EXISTS (
        SELECT FROM livehouse_ops.unlisted_questionnaires AS unlisted WHERE unlisted.partition = state.partition) AS is_active,
      reading.reads, reading.slice_id, reading.proof, reading.error, reading.read_at, reading.missing_rows, reading.acceptance_id
    FROM (
      SELECT 'gap' AS kind, stream, partition, gap AS reads, NULL::bigint AS slice_id, NULL::text AS proof,
        NULL::text AS error, NULL::timestamptz AS read_at, NULL::bigint AS missing_rows, NULL::bigint AS acceptance_id
      FROM livehouse_ops.partition_states, unnest(tsmultirange(range_merge(covers)) - covers) AS gap
      UNION ALL
      SELECT 'problem', problem.* FROM (
        SELECT DISTINCT ON (bad.stream, bad.partition, bad.reads) bad.stream, bad.partition, bad.reads, bad.slice_id,
          bad.proof, bad.error, bad.finished_at, coalesce(bad.missing_rows,
            CASE WHEN NOT bad.is_drop THEN bad.largest_total - bad.distinct_rows - bad.quarantined_rows END), NULL::bigint
        FROM (
          SELECT bad.*, coalesce(bad.piece_of, bad.slice_id) AS place, CASE WHEN bad.proof = 'failed'
            THEN max(upper(coalesce(bad.covers, bad.reads))) OVER newer
            ELSE max(upper(coalesce(bad.covers, bad.reads))) FILTER (WHERE bad.proof <> 'failed') OVER newer END AS newer_until
          FROM livehouse_ops.slices AS bad JOIN livehouse_ops.partition_states AS known USING (stream, partition)
          WHERE bad.status = 'failed'${sql.raw(isCounted)}
            AND CASE WHEN bad.reads IS NULL THEN bad.slice_id > coalesce(known.landed_slice_id, 0)
              ELSE NOT (known.covers @> coalesce(bad.covers, bad.reads) AND coalesce((
                SELECT range_agg(later.covers) @> coalesce(bad.covers, bad.reads) FROM livehouse_ops.slices AS later
                WHERE later.stream = bad.stream AND later.partition = bad.partition
                  AND coalesce(later.piece_of, later.slice_id) > coalesce(bad.piece_of, bad.slice_id)
                  AND later.status = 'landed' AND later.covers && coalesce(bad.covers, bad.reads)), false)) END
          WINDOW newer AS (
            PARTITION BY bad.stream, bad.partition, lower(coalesce(bad.covers, bad.reads))
            ORDER BY coalesce(bad.piece_of, bad.slice_id) DESC, bad.slice_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        ) AS bad
        WHERE ${sql.raw(isListed)}(bad.newer_until IS NULL OR bad.newer_until < upper(coalesce(bad.covers, bad.reads)))
        ORDER BY bad.stream, bad.partition, bad.reads, bad.place DESC, bad.slice_id
      ) AS problem
      UNION ALL
      SELECT 'accepted', accepted.stream, accepted.partition, accepted.reads, accepted.slice_id, accepted.proof, accepted.error,
        accepted.finished_at, accepted.missing_rows, accepted.acceptance_id
      FROM livehouse_ops.slices AS accepted
      WHERE acceptance_id IS NOT NULL AND proof = 'accepted' AND NOT EXISTS (
        SELECT FROM livehouse_ops.slices AS later
        WHERE later.stream = accepted.stream AND later.partition = accepted.partition
          AND coalesce(later.piece_of, later.slice_id) > coalesce(accepted.piece_of, accepted.slice_id)
          AND later.status IN ('landed', 'moving')
          AND (accepted.reads IS NULL OR later.reads @> accepted.reads))
          AND NOT EXISTS (
            SELECT FROM livehouse_ops.slices AS other
            WHERE other.stream = accepted.stream AND other.partition = accepted.partition AND other.proof = 'accepted'
              AND other.acceptance_id IS NOT NULL AND coalesce(other.piece_of, other.slice_id) = accepted.piece_of
              AND (other.piece_of IS NULL OR other.slice_id < accepted.slice_id))
    ) AS reading
      JOIN livehouse_ops.partition_states AS state USING (stream, partition)
      LEFT JOIN livehouse.channels AS channel USING (channel_id)
  `.execute(db)
}

import { type Kysely, sql } from 'kysely'

/** What several readers of the ledger ask, once for all of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE VIEW livehouse_ops.latest_readings AS
    SELECT state.*, state.channel_id IS NULL OR coalesce(channel.state = 'active', false) AS is_active
    FROM livehouse_ops.partition_states AS state LEFT JOIN livehouse.channels AS channel USING (channel_id)
    WHERE state.latest_slice_id IS NOT NULL
  `.execute(db)
  await sql`
    CREATE VIEW livehouse_ops.open_readings AS
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
            ELSE NOT known.covers @> coalesce(bad.covers, bad.reads) END
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
  await sql`COMMENT ON VIEW livehouse_ops.latest_readings IS ${sql.lit(latestWords)}`.execute(db)
  await sql
    .raw(`DO $$
    DECLARE known record;
    BEGIN
      FOR known IN SELECT attname, col_description(attrelid, attnum) AS words FROM pg_attribute
        WHERE attrelid = 'livehouse_ops.partition_states'::regclass AND attnum > 0 AND NOT attisdropped
      LOOP
        EXECUTE format('COMMENT ON COLUMN livehouse_ops.latest_readings.%I IS %L', known.attname, known.words);
      END LOOP;
    END $$`)
    .execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.latest_readings.is_active IS ${sql.lit(openComments.is_active)}`.execute(db)
  await sql`COMMENT ON VIEW livehouse_ops.open_readings IS ${sql.lit(openWords)}`.execute(db)
  for (const [column, text] of Object.entries(openComments))
    await sql`COMMENT ON COLUMN livehouse_ops.open_readings.${sql.ref(column)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP VIEW livehouse_ops.open_readings`.execute(db)
  await sql`DROP VIEW livehouse_ops.latest_readings`.execute(db)
}

const latestWords =
  'How each partition stands, as in partition_states, and whether it is still read; without those of which all is forgotten'

const openWords =
  'What is missing or not proven: gaps in what is covered, readings that fell short or failed, accepted shortfalls'

const openComments = {
  kind: 'gap; problem: short or failed, and neither made good by a later reading nor accepted; accepted, and not read to its end since',
  stream: 'Name of the stream',
  partition: 'Part of the stream, as in slices',
  channel_id: 'Of partition; NULL for streams of the account',
  is_active: 'Whether the channel is read; true for streams of the account',
  reads: 'The range, wall clock of the service; NULL for a whole list',
  slice_id: 'The reading: of each range the last one; NULL for a gap',
  proof: 'Of the reading; NULL for a gap',
  error: 'What is missing or went wrong; NULL for a gap',
  read_at: 'When the reading ended; NULL for a gap',
  missing_rows: 'How many rows it lacks; NULL where that is not known, and for a gap',
  acceptance_id: 'The acceptance by which it counts; NULL for what is not accepted',
}

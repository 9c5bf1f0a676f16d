import { type Kysely, sql } from 'kysely'

/**
 * What is cut off a reading is no reading of its own: it stands where that one stood among the readings of its partition. And two
 * that land the first slices of a partition at once both count.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.slices ADD COLUMN piece_of bigint`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.slices.piece_of IS
    'The slice from which this was cut off as a range between them was forgotten; NULL for a reading itself'`.execute(
    db,
  )
  await defineRenewal(db, ordered, keepFirst)
  await replaceView(db, 'coalesce(later.piece_of, later.slice_id)')
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await replaceView(db, 'later.slice_id')
  await defineRenewal(db, byNumber, '')
  await sql`ALTER TABLE livehouse_ops.slices DROP COLUMN piece_of`.execute(db)
}

/**
 * A first row is made before all are locked: another that makes it too is waited for, and its slices are seen by the statement that reads
 * them.
 */
const keepFirst = `
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO livehouse_ops.partition_states (stream, partition, is_windowed, covers)
        SELECT DISTINCT stream, partition, false, tsmultirange() FROM changed ORDER BY stream, partition
        ON CONFLICT DO NOTHING;
      END IF;`

/** The newest reading of those of a kind: its piece that kept its number, or else the first other one. */
const newest = (kind: string) =>
  `(array_agg(slice_id ORDER BY coalesce(piece_of, slice_id) DESC, slice_id) FILTER (WHERE ${kind}))[1]`

const ordered = {
  latest_slice_id: newest("status <> 'forgotten'"),
  landed_slice_id: newest("status IN ('landed', 'moving')"),
}

const byNumber = {
  latest_slice_id: "max(slice_id) FILTER (WHERE status <> 'forgotten')",
  landed_slice_id: "max(slice_id) FILTER (WHERE status IN ('landed', 'moving'))",
}

/** The rows are locked in one statement and read in the next, which sees what was committed while it waited. */
async function defineRenewal(
  db: Kysely<unknown>,
  order: Readonly<Record<string, string>>,
  firstRows: string,
): Promise<void> {
  const summed = { ...order, ...facts }
  const columns = [...Object.keys(summed), ...Object.keys(copies)]
  await sql
    .raw(`
    CREATE OR REPLACE FUNCTION livehouse_ops.renew_partition_states() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM livehouse_ops.partition_states;
        RETURN NULL;
      END IF;${firstRows}
      PERFORM FROM livehouse_ops.partition_states JOIN (SELECT DISTINCT stream, partition FROM changed) AS c
        USING (stream, partition) ORDER BY stream, partition FOR UPDATE OF partition_states;
      INSERT INTO livehouse_ops.partition_states AS state (stream, partition, ${columns.join(', ')})
      SELECT facts.*, ${Object.entries(copies)
        .map(([name, expression]) => `${expression} AS ${name}`)
        .join(', ')}
      FROM (
        SELECT stream, partition, ${Object.entries(summed)
          .map(([name, expression]) => `${expression} AS ${name}`)
          .join(', ')}
        FROM (SELECT DISTINCT stream, partition FROM changed) AS c JOIN livehouse_ops.slices USING (stream, partition)
        GROUP BY stream, partition
      ) AS facts
        LEFT JOIN livehouse_ops.slices AS latest ON latest.slice_id = facts.latest_slice_id
        LEFT JOIN livehouse_ops.slices AS landed ON landed.slice_id = facts.landed_slice_id
      ON CONFLICT (stream, partition) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
      WHERE (${columns.map((name) => `state.${name}`).join(', ')})
        IS DISTINCT FROM (${columns.map((name) => `excluded.${name}`).join(', ')});
      IF TG_OP = 'DELETE' THEN
        DELETE FROM livehouse_ops.partition_states AS state USING changed
        WHERE state.stream = changed.stream AND state.partition = changed.partition AND NOT EXISTS (
          SELECT FROM livehouse_ops.slices WHERE slices.stream = state.stream AND slices.partition = state.partition);
      END IF;
      RETURN NULL;
    END $$`)
    .execute(db)
}

const day = "(finished_at AT TIME ZONE coalesce((SELECT time_zone FROM livehouse_ops.source), 'UTC'))::date"
const isWalk = "reads IS NULL AND covers IS NULL AND status <> 'forgotten'"
const daysWhere = (condition: string) =>
  `coalesce(range_agg(daterange(${day}, ${day} + 1)) FILTER (WHERE ${condition}), '{}')`
const landedDays = daysWhere(`${isWalk} AND status <> 'failed'`)

const facts = {
  is_windowed: 'bool_or(reads IS NOT NULL OR covers IS NOT NULL)',
  landed_at: "max(finished_at) FILTER (WHERE status IN ('landed', 'moving'))",
  verified_at: "max(finished_at) FILTER (WHERE status = 'landed' AND proof = 'verified')",
  covers: "coalesce(range_agg(covers) FILTER (WHERE status = 'landed'), '{}')",
  settled: "coalesce(range_agg(settled) FILTER (WHERE status = 'landed'), '{}')",
  shortest_lookback_days: "min(lookback_days) FILTER (WHERE status = 'landed' AND settled IS NOT NULL)",
  walked_at: "max(started_at) FILTER (WHERE status = 'landed' AND reads IS NULL AND covers IS NULL)",
  landed_days: landedDays,
  failed_days: `${daysWhere(isWalk)} - ${landedDays}`,
}

const copies = {
  latest_run_id: 'latest.run_id',
  latest_status: 'latest.status',
  latest_proof: 'latest.proof',
  latest_error: 'latest.error',
  latest_at: 'latest.finished_at',
  landed_proof: 'landed.proof',
}

/** @param order the number by which a later reading stands behind another */
async function replaceView(db: Kysely<unknown>, order: string): Promise<void> {
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
            ELSE NOT (known.covers @> coalesce(bad.covers, bad.reads) AND coalesce((
              SELECT range_agg(later.covers) @> coalesce(bad.covers, bad.reads) FROM livehouse_ops.slices AS later
              WHERE later.stream = bad.stream AND later.partition = bad.partition AND ${sql.raw(order)} > bad.slice_id
                AND later.status = 'landed' AND later.covers && coalesce(bad.covers, bad.reads)), false)) END
        ORDER BY bad.stream, bad.partition, bad.reads, bad.slice_id DESC
      ) AS problem
      UNION ALL
      SELECT 'accepted', stream, partition, reads, slice_id, proof, error, finished_at, missing_rows, acceptance_id
      FROM livehouse_ops.slices AS accepted
      WHERE acceptance_id IS NOT NULL AND proof = 'accepted' AND NOT EXISTS (
        SELECT FROM livehouse_ops.slices AS later
        WHERE later.stream = accepted.stream AND later.partition = accepted.partition
          AND ${sql.raw(order)} > accepted.slice_id AND later.status IN ('landed', 'moving')
          AND (accepted.reads IS NULL OR later.reads @> accepted.reads))
    ) AS reading
      JOIN livehouse_ops.partition_states AS state USING (stream, partition)
      LEFT JOIN livehouse.channels AS channel USING (channel_id)
  `.execute(db)
}

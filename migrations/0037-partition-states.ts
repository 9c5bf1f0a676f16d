import { type Kysely, sql } from 'kysely'

/** One row a partition says how it stands, kept by the database itself whatever writes into the ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.partition_states (
      stream text NOT NULL,
      partition text NOT NULL,
      channel_id text GENERATED ALWAYS AS (substring(partition from '^channel=([^/]+)')) STORED,
      is_windowed boolean NOT NULL,
      latest_slice_id bigint,
      landed_slice_id bigint,
      landed_at timestamptz,
      verified_at timestamptz,
      covers tsmultirange NOT NULL,
      PRIMARY KEY (stream, partition)
    )
  `.execute(db)
  // In place of one without the number: the last slices of a partition stand at its end.
  await sql`CREATE INDEX slices_partition ON livehouse_ops.slices (stream, partition, slice_id)`.execute(db)
  await sql`DROP INDEX livehouse_ops.slices_stream_partition`.execute(db)
  await sql`CREATE INDEX slices_unlanded ON livehouse_ops.slices (stream, partition, slice_id)
    WHERE status <> 'landed'`.execute(db)
  // The rows are locked in one statement and read in the next, which sees what was committed while it waited.
  await sql`
    CREATE FUNCTION livehouse_ops.renew_partition_states() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM livehouse_ops.partition_states;
        RETURN NULL;
      END IF;
      PERFORM FROM livehouse_ops.partition_states JOIN (SELECT DISTINCT stream, partition FROM changed) AS c
        USING (stream, partition) ORDER BY stream, partition FOR UPDATE OF partition_states;
      INSERT INTO livehouse_ops.partition_states AS state
        (stream, partition, is_windowed, latest_slice_id, landed_slice_id, landed_at, verified_at, covers)
      SELECT stream, partition, ${facts}
      FROM (SELECT DISTINCT stream, partition FROM changed) AS c JOIN livehouse_ops.slices USING (stream, partition)
      GROUP BY stream, partition
      ON CONFLICT (stream, partition) DO UPDATE SET is_windowed = excluded.is_windowed,
        latest_slice_id = excluded.latest_slice_id, landed_slice_id = excluded.landed_slice_id,
        landed_at = excluded.landed_at, verified_at = excluded.verified_at, covers = excluded.covers
      WHERE (state.is_windowed, state.latest_slice_id, state.landed_slice_id, state.landed_at, state.verified_at, state.covers)
        IS DISTINCT FROM (excluded.is_windowed, excluded.latest_slice_id, excluded.landed_slice_id, excluded.landed_at,
          excluded.verified_at, excluded.covers);
      IF TG_OP = 'DELETE' THEN
        DELETE FROM livehouse_ops.partition_states AS state USING changed
        WHERE state.stream = changed.stream AND state.partition = changed.partition AND NOT EXISTS (
          SELECT FROM livehouse_ops.slices WHERE slices.stream = state.stream AND slices.partition = state.partition);
      END IF;
      RETURN NULL;
    END $$
  `.execute(db)
  for (const [event, table] of [
    ['INSERT', 'NEW'],
    ['UPDATE', 'OLD'],
    ['DELETE', 'OLD'],
  ] as const)
    await sql`CREATE TRIGGER ${sql.id(`partition_states_${event.toLowerCase()}`)} AFTER ${sql.raw(event)} ON livehouse_ops.slices
      REFERENCING ${sql.raw(table)} TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION livehouse_ops.renew_partition_states()`.execute(db)
  await sql`CREATE TRIGGER partition_states_truncate AFTER TRUNCATE ON livehouse_ops.slices
    FOR EACH STATEMENT EXECUTE FUNCTION livehouse_ops.renew_partition_states()`.execute(db)
  await sql`INSERT INTO livehouse_ops.partition_states
      (stream, partition, is_windowed, latest_slice_id, landed_slice_id, landed_at, verified_at, covers)
    SELECT stream, partition, ${facts} FROM livehouse_ops.slices GROUP BY stream, partition`.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.partition_states IS ${sql.lit(tableComment)}`.execute(db)
  for (const [column, text] of Object.entries(comments))
    await sql`COMMENT ON COLUMN livehouse_ops.partition_states.${sql.ref(column)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const event of ['insert', 'update', 'delete', 'truncate'])
    await sql`DROP TRIGGER ${sql.id(`partition_states_${event}`)} ON livehouse_ops.slices`.execute(db)
  await sql`DROP FUNCTION livehouse_ops.renew_partition_states()`.execute(db)
  await sql`DROP TABLE livehouse_ops.partition_states`.execute(db)
  await sql`DROP INDEX livehouse_ops.slices_unlanded`.execute(db)
  await sql`CREATE INDEX slices_stream_partition ON livehouse_ops.slices (stream, partition)`.execute(db)
  await sql`DROP INDEX livehouse_ops.slices_partition`.execute(db)
}

const facts = sql.raw(`bool_or(reads IS NOT NULL OR covers IS NOT NULL),
  max(slice_id) FILTER (WHERE status <> 'forgotten'), max(slice_id) FILTER (WHERE status IN ('landed', 'moving')),
  max(finished_at) FILTER (WHERE status IN ('landed', 'moving')),
  max(finished_at) FILTER (WHERE status = 'landed' AND proof = 'verified'),
  coalesce(range_agg(covers) FILTER (WHERE status = 'landed'), '{}')`)

const tableComment =
  'How each partition stands, by the ledger: the database renews a row with every change of the slices of its partition'

const comments = {
  stream: 'Name of the stream',
  partition: 'Part of the stream, as in slices',
  channel_id: 'Of partition; NULL for streams of the account',
  is_windowed: 'Whether it is read by ranges of time; else the whole list is read each time',
  latest_slice_id: 'The last slice, landed or not; those that are forgotten do not count; NULL where all are',
  landed_slice_id: 'The last slice that was read to its end: status landed or moving; NULL for none',
  landed_at: 'When that was',
  verified_at: 'When a slice was last verified',
  covers: 'What is covered: the union of landed ranges, wall clock of the service; empty for whole lists',
}

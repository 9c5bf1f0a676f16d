import { type Kysely, sql } from 'kysely'

/** Planning, the days of whole lists and the views of analysts also go by the state of each partition. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const added = Object.entries(addedColumns).map(([name, type]) => `ADD COLUMN ${name} ${type}`)
  await sql`ALTER TABLE livehouse_ops.partition_states ${sql.raw(added.join(', '))}`.execute(db)
  await defineRenewal(db, { ...facts, ...addedFacts }, addedCopies)
  const columns = Object.keys({ ...addedFacts, ...addedCopies })
  await sql`
    UPDATE livehouse_ops.partition_states AS state
    SET ${sql.raw(columns.map((name) => `${name} = found.${name}`).join(', '))}
    FROM (${sql.raw(selectFacts('livehouse_ops.slices', { ...facts, ...addedFacts }, addedCopies))}) AS found
    WHERE state.stream = found.stream AND state.partition = found.partition
  `.execute(db)
  for (const [column, text] of Object.entries(comments))
    await sql`COMMENT ON COLUMN livehouse_ops.partition_states.${sql.ref(column)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await defineRenewal(db, facts, {})
  const dropped = Object.keys(addedColumns).map((name) => `DROP COLUMN ${name}`)
  await sql`ALTER TABLE livehouse_ops.partition_states ${sql.raw(dropped.join(', '))}`.execute(db)
}

type Expressions = Readonly<Record<string, string>>

/** The rows are locked in one statement and read in the next, which sees what was committed while it waited. */
async function defineRenewal(db: Kysely<unknown>, summed: Expressions, copied: Expressions): Promise<void> {
  const columns = Object.keys({ ...summed, ...copied })
  const changed =
    '(SELECT DISTINCT stream, partition FROM changed) AS c JOIN livehouse_ops.slices USING (stream, partition)'
  await sql
    .raw(`
    CREATE OR REPLACE FUNCTION livehouse_ops.renew_partition_states() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM livehouse_ops.partition_states;
        RETURN NULL;
      END IF;
      PERFORM FROM livehouse_ops.partition_states JOIN (SELECT DISTINCT stream, partition FROM changed) AS c
        USING (stream, partition) ORDER BY stream, partition FOR UPDATE OF partition_states;
      INSERT INTO livehouse_ops.partition_states AS state (stream, partition, ${columns.join(', ')})
      ${selectFacts(changed, summed, copied)}
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

function selectFacts(slices: string, summed: Expressions, copied: Expressions): string {
  const sums = Object.entries(summed).map(([name, expression]) => `${expression} AS ${name}`)
  const copies = Object.entries(copied).map(([name, expression]) => `, ${expression} AS ${name}`)
  return `
    SELECT facts.*${copies.join('')}
    FROM (SELECT stream, partition, ${sums.join(', ')} FROM ${slices} GROUP BY stream, partition) AS facts
      LEFT JOIN livehouse_ops.slices AS latest ON latest.slice_id = facts.latest_slice_id
      LEFT JOIN livehouse_ops.slices AS landed ON landed.slice_id = facts.landed_slice_id`
}

const facts = {
  is_windowed: 'bool_or(reads IS NOT NULL OR covers IS NOT NULL)',
  latest_slice_id: "max(slice_id) FILTER (WHERE status <> 'forgotten')",
  landed_slice_id: "max(slice_id) FILTER (WHERE status IN ('landed', 'moving'))",
  landed_at: "max(finished_at) FILTER (WHERE status IN ('landed', 'moving'))",
  verified_at: "max(finished_at) FILTER (WHERE status = 'landed' AND proof = 'verified')",
  covers: "coalesce(range_agg(covers) FILTER (WHERE status = 'landed'), '{}')",
}

/** The service's; before its first run there are no slices. */
const day = "(finished_at AT TIME ZONE coalesce((SELECT time_zone FROM livehouse_ops.source), 'UTC'))::date"
const isWalk = "reads IS NULL AND covers IS NULL AND status <> 'forgotten'"
const daysWhere = (condition: string) =>
  `coalesce(range_agg(daterange(${day}, ${day} + 1)) FILTER (WHERE ${condition}), '{}')`
const landedDays = daysWhere(`${isWalk} AND status <> 'failed'`)

const addedColumns = {
  settled: "tsmultirange NOT NULL DEFAULT '{}'",
  shortest_lookback_days: 'integer',
  walked_at: 'timestamptz',
  landed_days: "datemultirange NOT NULL DEFAULT '{}'",
  failed_days: "datemultirange NOT NULL DEFAULT '{}'",
  latest_run_id: 'bigint',
  latest_status: 'text',
  latest_proof: 'text',
  latest_error: 'text',
  latest_at: 'timestamptz',
  landed_proof: 'text',
}

const addedFacts = {
  settled: "coalesce(range_agg(settled) FILTER (WHERE status = 'landed'), '{}')",
  shortest_lookback_days: "min(lookback_days) FILTER (WHERE status = 'landed' AND settled IS NOT NULL)",
  walked_at: "max(started_at) FILTER (WHERE status = 'landed' AND reads IS NULL AND covers IS NULL)",
  landed_days: landedDays,
  failed_days: `${daysWhere(isWalk)} - ${landedDays}`,
}

const addedCopies = {
  latest_run_id: 'latest.run_id',
  latest_status: 'latest.status',
  latest_proof: 'latest.proof',
  latest_error: 'latest.error',
  latest_at: 'latest.finished_at',
  landed_proof: 'landed.proof',
}

const comments = {
  settled: 'What is not read again: the union of the settled ranges of landed slices, as covers',
  shortest_lookback_days:
    'The shortest lookback with which these were read; slices that did not keep theirs are left out',
  walked_at: 'When the last landed reading of the whole list began; NULL where none has, and for ranges of time',
  landed_days: 'Days of the service on which the whole list was read to its end; none for ranges of time',
  failed_days: 'Days on which it was read, and never to its end',
  latest_run_id: 'The run that read the last slice',
  latest_status: 'Of the last slice, as in slices',
  latest_proof: 'Of the last slice, as in slices',
  latest_error: 'Of the last slice, as in slices',
  latest_at: 'When the last slice ended',
  landed_proof: 'The proof of landed_slice_id',
}

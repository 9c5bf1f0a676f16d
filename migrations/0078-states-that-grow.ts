import { type Kysely, sql } from 'kysely'

/**
 * The state of a partition grows by what is added, where that is its newest reading: to read all of its slices again took longer with
 * each of them. Where it is not, or is a piece of another, an update of nothing has them all counted, as before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const columns = [...Object.keys(facts), ...Object.keys(copies)]
  const expressions = Object.entries(facts).map(([name, [expression]]) => `${expression} AS ${name}`)
  const copied = Object.entries(copies).map(([name, [of, column]]) => `${of}.${column} AS ${name}`)
  const grown = [
    ...Object.entries(facts).map(([name, [, growth]]) => `${name} = ${growth.replaceAll('*', name)}`),
    ...Object.entries(copies).map(
      ([name, [of]]) =>
        `${name} = CASE WHEN excluded.${of}_slice_id IS NULL THEN state.${name} ELSE excluded.${name} END`,
    ),
  ]
  await sql
    .raw(`
    CREATE FUNCTION livehouse_ops.grow_partition_states() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE grown integer;
    BEGIN
      INSERT INTO livehouse_ops.partition_states AS state (stream, partition, ${columns.join(', ')})
      SELECT facts.*, ${copied.join(', ')}
      FROM (
        SELECT stream, partition, ${expressions.join(', ')} FROM changed
        GROUP BY stream, partition HAVING bool_and(piece_of IS NULL)
      ) AS facts
        LEFT JOIN changed AS latest ON latest.slice_id = facts.latest_slice_id
        LEFT JOIN changed AS landed ON landed.slice_id = facts.landed_slice_id
      ORDER BY stream, partition
      ON CONFLICT (stream, partition) DO UPDATE SET ${grown.join(', ')}
      WHERE excluded.latest_slice_id > coalesce(state.latest_slice_id, 0);
      GET DIAGNOSTICS grown = ROW_COUNT;
      IF grown < (SELECT count(DISTINCT (stream, partition)) FROM changed) THEN
        UPDATE livehouse_ops.slices SET piece_of = slices.piece_of FROM changed WHERE slices.slice_id = changed.slice_id;
      END IF;
      RETURN NULL;
    END $$`)
    .execute(db)
  await setTrigger(db, 'grow_partition_states')
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await setTrigger(db, 'renew_partition_states')
  await sql`DROP FUNCTION livehouse_ops.grow_partition_states()`.execute(db)
}

async function setTrigger(db: Kysely<unknown>, name: string): Promise<void> {
  await sql`DROP TRIGGER partition_states_insert ON livehouse_ops.slices`.execute(db)
  await sql`CREATE TRIGGER partition_states_insert AFTER INSERT ON livehouse_ops.slices
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION livehouse_ops.${sql.raw(name)}()`.execute(db)
}

/** The service's; before its first run there are no slices. */
const day = "(finished_at AT TIME ZONE coalesce((SELECT time_zone FROM livehouse_ops.source), 'UTC'))::date"
const isWalk = "reads IS NULL AND covers IS NULL AND status <> 'forgotten'"
const daysWhere = (condition: string) =>
  `coalesce(range_agg(daterange(${day}, ${day} + 1)) FILTER (WHERE ${condition}), '{}')`
const landedDays = daysWhere(`${isWalk} AND status <> 'failed'`)
const union = 'state.* + excluded.*'
const latest = 'greatest(state.*, excluded.*)'

/** Of each column, what the slices that are added say, and what becomes of it, where * is its name. */
const facts: Readonly<Record<string, readonly [string, string]>> = {
  latest_slice_id: ["max(slice_id) FILTER (WHERE status <> 'forgotten')", 'excluded.*'],
  landed_slice_id: ["max(slice_id) FILTER (WHERE status IN ('landed', 'moving'))", 'coalesce(excluded.*, state.*)'],
  is_windowed: ['bool_or(reads IS NOT NULL OR covers IS NOT NULL)', 'state.* OR excluded.*'],
  landed_at: ["max(finished_at) FILTER (WHERE status IN ('landed', 'moving'))", latest],
  verified_at: ["max(finished_at) FILTER (WHERE status = 'landed' AND proof = 'verified')", latest],
  covers: ["coalesce(range_agg(covers) FILTER (WHERE status = 'landed'), '{}')", union],
  settled: ["coalesce(range_agg(settled) FILTER (WHERE status = 'landed'), '{}')", union],
  shortest_lookback_days: [
    "min(lookback_days) FILTER (WHERE status = 'landed' AND settled IS NOT NULL)",
    'least(state.*, excluded.*)',
  ],
  walked_at: ["max(started_at) FILTER (WHERE status = 'landed' AND reads IS NULL AND covers IS NULL)", latest],
  landed_days: [landedDays, union],
  failed_days: [
    `${daysWhere(isWalk)} - ${landedDays}`,
    'state.* + excluded.* - (state.landed_days + excluded.landed_days)',
  ],
}

/** Of each column, of which slice it is a copy, and of what of that. */
const copies: Readonly<Record<string, readonly ['latest' | 'landed', string]>> = {
  latest_run_id: ['latest', 'run_id'],
  latest_status: ['latest', 'status'],
  latest_proof: ['latest', 'proof'],
  latest_error: ['latest', 'error'],
  latest_at: ['latest', 'finished_at'],
  landed_proof: ['landed', 'proof'],
}

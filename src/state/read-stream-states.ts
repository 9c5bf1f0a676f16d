import { type Kysely, sql } from 'kysely'
import type { Proof } from '../core/slice.ts'
import { formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { latestReadings } from './latest-readings.ts'

/** What the ledger tells of one stream, over the partitions of active channels and of the account. */
export interface StreamState {
  readonly stream: string
  /** The last run that read it, landed or not. */
  readonly lastRunId: string
  /** Undefined where no slice has landed yet. */
  readonly lastLanded: { readonly at: Date; readonly proof: Proof } | undefined
  /** Of the partition that is covered least far, of those that go on: wall clock of the service, `YYYY-MM-DD HH:MM:SS`; null for walks over whole lists. */
  readonly coveredUntil: string | null
  /** That partition; also where a time-filtered partition has no coverage at all. */
  readonly leastCovered: string | null
  /** How many partitions ended with each proof in their latest slice. */
  readonly partitions: Readonly<Partial<Record<Proof, number>>>
}

/**
 * The streams that have been read, by name. `ends`: until when channels are read, by id; one whose end is covered is not the
 * least covered while another goes on.
 */
export async function readStreamStates(
  db: Kysely<Database>,
  ends: ReadonlyMap<string, WallTime> = new Map(),
): Promise<ReadonlyMap<string, StreamState>> {
  const times = [...ends.values()].map(formatWallTime)
  const { rows } = await sql<StateRow>`
    with ends as (
      select * from unnest(${[...ends.keys()]}::text[], ${times}::timestamp[]) as given (channel_id, ends_at)
    ), live as (
      select readings.*, upper(covers) as until, ends_at
      from ${latestReadings} as readings left join livehouse.channels using (channel_id)
        left join ends using (channel_id)
      where channel_id is null or state = 'active'
    ), proofs as (
      select stream, jsonb_object_agg(proof, count) as partitions, max(run_id) as last_run_id
      from (select stream, proof, count(*), max(run_id) as run_id from live group by stream, proof) as counted group by stream
    ), landed as (
      select distinct on (stream) stream, landed_at, landed_proof
      from live where landed_at is not null order by stream, landed_at desc, slice_id desc
    ), least as (
      select distinct on (stream) stream, partition, until
      from live where is_windowed order by stream, coalesce(until >= ends_at, false), until nulls first, partition
    )
    select proofs.stream, proofs.partitions, proofs.last_run_id, landed_at, landed_proof,
      least.until as covered_until, least.partition as least_covered
    from proofs left join landed using (stream) left join least using (stream)`.execute(db)
  return new Map(rows.map((row) => [row.stream, stateOf(row)]))
}

interface StateRow {
  readonly stream: string
  readonly partitions: Readonly<Partial<Record<Proof, number>>>
  readonly landed_at: Date | null
  readonly landed_proof: Proof | null
  readonly covered_until: string | null
  readonly least_covered: string | null
  readonly last_run_id: string
}

function stateOf(row: StateRow): StreamState {
  const { landed_at: at, landed_proof: proof } = row
  return {
    stream: row.stream,
    lastRunId: row.last_run_id,
    lastLanded: at === null || proof === null ? undefined : { at, proof },
    coveredUntil: row.covered_until,
    leastCovered: row.least_covered,
    partitions: row.partitions,
  }
}

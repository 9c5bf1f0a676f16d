import { type Kysely, sql } from 'kysely'
import type { Proof } from '../core/slice.ts'
import { formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'

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
      select s.*, c.channel_id from livehouse_ops.slices s
      left join livehouse.channels c on c.channel_id = substring(s.partition from '^channel=([^/]+)')
      where s.partition = 'account' or c.state = 'active'
    ), latest as (
      select distinct on (stream, partition) stream, partition, proof
      from live order by stream, partition, slice_id desc
    ), proofs as (
      select stream, jsonb_object_agg(proof, count) as partitions
      from (select stream, proof, count(*) from latest group by stream, proof) as counted group by stream
    ), landed as (
      select distinct on (stream) stream, finished_at, proof
      from live where status = 'landed' order by stream, finished_at desc, slice_id desc
    ), coverage as (
      select stream, partition, channel_id, max(upper(covers)) filter (where status = 'landed') as until
      from live group by stream, partition, channel_id having bool_or(covers is not null)
    ), least as (
      select distinct on (stream) stream, partition, until
      from coverage left join ends using (channel_id)
      order by stream, coalesce(until >= ends_at, false), until nulls first, partition
    )
    select proofs.stream, proofs.partitions, landed.finished_at as landed_at, landed.proof as landed_proof,
      least.until as covered_until, least.partition as least_covered,
      (select max(run_id) from live where live.stream = proofs.stream) as last_run_id
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

import { type Kysely, sql } from 'kysely'
import { type Proof, proofs } from '../core/slice.ts'
import type { WallTime } from '../core/wall-clock.ts'
import { parseWallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'

/** What the ledger tells of one stream in one channel, or in the whole account, over all its partitions. */
export interface LedgerUnit {
  readonly stream: string
  /** Null for streams of the account. */
  readonly channelId: string | null
  /** Gift types, questionnaires; else 1. */
  readonly partitions: number
  /** How many partitions ended with each proof in their latest slice; zeros are left out. */
  readonly proofs: Readonly<Partial<Record<Proof, number>>>
  /** Read by ranges of time; else walked as a whole list. */
  readonly isWindowed: boolean
  /** What is covered begins here; null where nothing is, and for walks. */
  readonly since: WallTime | null
  /** Where the coverage of its least covered partition ends; null where one has none, and for walks. */
  readonly until: WallTime | null
  /** Ranges inside what is covered that are not. */
  readonly gaps: number
  /** When its partitions were last read to their end: of them the earliest; null where one never was. */
  readonly landedAt: Date | null
  /** The latest proven slice of all. */
  readonly verifiedAt: Date | null
  readonly hasAccepted: boolean
  readonly lastRunId: string
}

/** One row a stream and channel, whatever the state of the channel. One pass over the ledger. */
export async function readLedgerOverview(db: Kysely<Database>): Promise<readonly LedgerUnit[]> {
  const { rows } = await sql<UnitRow>`
    with parts as materialized (
      select stream, partition,
        max(slice_id) filter (where status <> 'forgotten') as latest,
        max(finished_at) filter (where status in ('landed', 'moving')) as landed_at,
        max(finished_at) filter (where status = 'landed' and proof = 'verified') as verified_at,
        bool_or(reads is not null) as is_windowed,
        bool_or(proof = 'accepted' and status = 'landed') as has_accepted,
        range_agg(covers) filter (where status = 'landed' and covers is not null) as ranges
      from livehouse_ops.slices group by stream, partition
    ), judged as (
      select parts.*, substring(parts.partition from '^channel=([^/]+)') as channel_id, slice.proof, slice.run_id,
        lower(ranges) as since, upper(ranges) as until,
        (select count(*) from unnest(tsmultirange(range_merge(ranges)) - ranges)) as gaps
      from parts join livehouse_ops.slices as slice on slice.slice_id = parts.latest
    ), counted as (
      select stream, channel_id, proof, count(*) as partitions, bool_or(is_windowed) as is_windowed,
        bool_or(has_accepted) as has_accepted, min(since) as since, min(until) as until,
        bool_or(until is null) as is_uncovered, sum(gaps) as gaps, min(landed_at) as landed_at,
        bool_or(landed_at is null) as is_unread, max(verified_at) as verified_at, max(run_id) as run_id
      from judged group by stream, channel_id, proof
    )
    select stream, channel_id, sum(partitions) as partitions, jsonb_object_agg(proof, partitions) as proofs,
      bool_or(is_windowed) as is_windowed, bool_or(has_accepted) as has_accepted, min(since)::text as since,
      case when not bool_or(is_uncovered) then min(until)::text end as until, sum(gaps) as gaps,
      case when not bool_or(is_unread) then min(landed_at) end as landed_at, max(verified_at) as verified_at,
      max(run_id) as last_run_id
    from counted group by stream, channel_id order by stream, channel_id`.execute(db)
  return rows.map(unitOf)
}

interface UnitRow {
  readonly stream: string
  readonly channel_id: string | null
  readonly partitions: string
  readonly proofs: Readonly<Record<string, number>>
  readonly is_windowed: boolean
  readonly has_accepted: boolean
  readonly since: string | null
  readonly until: string | null
  readonly gaps: string
  readonly landed_at: Date | null
  readonly verified_at: Date | null
  readonly last_run_id: string
}

function unitOf(row: UnitRow): LedgerUnit {
  return {
    stream: row.stream,
    channelId: row.channel_id,
    partitions: Number(row.partitions),
    proofs: Object.fromEntries(proofs.flatMap((proof) => (row.proofs[proof] ? [[proof, row.proofs[proof]]] : []))),
    isWindowed: row.is_windowed,
    since: parseWallTime(row.since ?? '') ?? null,
    until: parseWallTime(row.until ?? '') ?? null,
    gaps: Number(row.gaps),
    landedAt: row.landed_at,
    verifiedAt: row.verified_at,
    hasAccepted: row.has_accepted,
    lastRunId: row.last_run_id,
  }
}

import { type Kysely, sql } from 'kysely'
import { type Proof, proofs } from '../core/slice.ts'
import type { WallTime } from '../core/wall-clock.ts'
import { parseWallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { latestReadings } from './latest-readings.ts'

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
  readonly lastRunId: string
}

/** One row a stream and channel, whatever the state of the channel. */
export async function readLedgerOverview(db: Kysely<Database>): Promise<readonly LedgerUnit[]> {
  const { rows } = await sql<UnitRow>`
    with counted as (
      select stream, channel_id, proof, count(*) as partitions, bool_or(is_windowed) as is_windowed,
        min(lower(covers)) as since, min(upper(covers)) as until, bool_or(isempty(covers)) as is_uncovered,
        sum((select count(*) - 1 from unnest(covers))) filter (where not isempty(covers)) as gaps,
        min(landed_at) as landed_at, bool_or(landed_at is null) as is_unread, max(verified_at) as verified_at,
        max(run_id) as run_id
      from ${latestReadings} as readings group by stream, channel_id, proof
    )
    select stream, channel_id, sum(partitions) as partitions, jsonb_object_agg(proof, partitions) as proofs,
      bool_or(is_windowed) as is_windowed, min(since)::text as since,
      case when not bool_or(is_uncovered) then min(until)::text end as until, coalesce(sum(gaps), 0) as gaps,
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
    lastRunId: row.last_run_id,
  }
}

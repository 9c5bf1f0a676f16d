import { sql } from 'kysely'
import { type Proof, proofs } from '../core/slice.ts'
import { parseWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Db } from '../store/database.ts'

/** What the ledger says about all partitions of one stream in one active channel or in the account. */
export interface LedgerUnit {
  readonly stream: string
  readonly channelId: string | null
  /** The proof of the latest slice of each partition (a gift type, a questionnaire; otherwise there is one). */
  readonly proofs: readonly Proof[]
  /** Whether it is read by ranges of time; otherwise as a whole list. */
  readonly isWindowed: boolean
  /** Where coverage begins; null if nothing is covered, and for whole lists. */
  readonly since: WallTime | null
  /** Where the coverage of its least covered partition ends; null if one has none, and for whole lists. */
  readonly until: WallTime | null
  readonly leastCovered: string
  /** Up to when it is complete, on the service's wall clock: `until`; for whole lists, when they landed; or null. */
  readonly reach: WallTime | null
  /** How many uncovered ranges lie between covered ones. */
  readonly gaps: number
  /** When any partition was last read to its end; null if none ever was. */
  readonly lastLandedAt: Date | null
  /** The proof of that reading. */
  readonly lastLandedProof: Proof | null
  /** When a slice of it was last verified. */
  readonly verifiedAt: Date | null
  readonly lastRunId: string
}

/** Reads one unit for each stream and active channel, in that order. `timeZone`: the service's. */
export async function readLedgerUnits(db: Db, timeZone: string): Promise<readonly LedgerUnit[]> {
  // The builder knows neither multiranges nor elements of an array.
  const { rows } = await sql<UnitRow>`
    select stream, channel_id as "channelId", array_agg(latest_proof) as proofs, bool_or(is_windowed) as "isWindowed",
      min(lower(covers))::text as since,
      case when not bool_or(isempty(covers)) then min(upper(covers))::text end as until,
      (array_agg(partition order by upper(covers) nulls first, partition))[1] as "leastCovered",
      coalesce(sum((select count(*) - 1 from unnest(covers))) filter (where not isempty(covers)), 0)::integer as gaps,
      case when not bool_or(landed_at is null)
        then date_trunc('second', min(landed_at) at time zone ${timeZone})::text end as walked,
      max(landed_at) as "lastLandedAt",
      (array_agg(landed_proof order by landed_at desc nulls last, latest_slice_id desc))[1] as "lastLandedProof",
      max(verified_at) as "verifiedAt", max(latest_run_id) as "lastRunId"
    from livehouse_ops.latest_readings where is_active
    group by stream, channel_id order by stream, channel_id`.execute(db)
  const wallOf = (text: string | null) => parseWallTime(text ?? '') ?? null
  return rows.map(({ since, until, walked, ...unit }) => ({
    ...unit,
    since: wallOf(since),
    until: wallOf(until),
    reach: wallOf(unit.isWindowed ? until : walked),
  }))
}

type UnitRow = Omit<LedgerUnit, 'since' | 'until' | 'reach'> & Record<'since' | 'until' | 'walked', string | null>

/** Counts the partitions of these units by their proof, without zeros. */
export function countProofs(units: readonly LedgerUnit[]): Readonly<Partial<Record<Proof, number>>> {
  const ended = units.flatMap((unit) => unit.proofs)
  const counts = proofs.map((proof) => [proof, ended.filter((each) => each === proof).length] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

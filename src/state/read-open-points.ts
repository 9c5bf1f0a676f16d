import { type Kysely, sql } from 'kysely'
import type { Window } from '../core/slice.ts'
import type { Database } from '../db/database.ts'
import { coverageGaps, latestReadings } from './latest-readings.ts'
import { readBounds } from './wall-range.ts'

/** A range inside what is covered that itself is not. */
export interface Gap {
  readonly stream: string
  readonly partition: string
  readonly window: Window
}

/** A partition whose latest slice did not land as proven, accepted ones left out. */
export interface Shortfall {
  readonly stream: string
  readonly partition: string
  readonly proof: string
  /** What is missing, or what went wrong. */
  readonly reason: string | null
}

/** What is open in the ledger: at most `most` of each, and how many there are in all. */
export interface OpenPoints {
  readonly gaps: readonly Gap[]
  readonly gapCount: number
  readonly shortfalls: readonly Shortfall[]
  readonly shortfallCount: number
}

export async function readOpenPoints(db: Kysely<Database>, most: number): Promise<OpenPoints> {
  const { rows: gaps } = await sql<{ stream: string; partition: string; lower: string; upper: string; count: string }>`
    select stream, partition, lower(gap)::text as lower, upper(gap)::text as upper, count(*) over () as count
    from ${coverageGaps} as gaps order by upper(gap) desc, stream, partition limit ${most}`.execute(db)
  const { rows: shortfalls } = await sql<Shortfall & { count: string }>`
    select stream, partition, proof, error as reason, count(*) over () as count from ${latestReadings} as readings
    where status <> 'landed' and proof <> 'accepted' order by stream, partition limit ${most}`.execute(db)
  return {
    gaps: gaps.flatMap(({ stream, partition, lower, upper }) => {
      const window = readBounds(lower, upper)
      return window === undefined ? [] : [{ stream, partition, window }]
    }),
    gapCount: Number(gaps[0]?.count ?? 0),
    shortfalls: shortfalls.map(({ stream, partition, proof, reason }) => ({ stream, partition, proof, reason })),
    shortfallCount: Number(shortfalls[0]?.count ?? 0),
  }
}

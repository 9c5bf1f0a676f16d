import { type Kysely, sql } from 'kysely'
import type { Proof, Window } from '../core/slice.ts'
import type { Database } from '../db/database.ts'
import { acceptedShortfalls, coverageGaps, openProblems } from './latest-readings.ts'
import { readBounds } from './wall-range.ts'

/** A range that is not covered, or a reading that fell short or failed and that no later one has made good. */
export interface OpenReading {
  readonly kind: 'gap' | 'problem' | 'accepted'
  readonly stream: string
  readonly partition: string
  /** Null for the account. */
  readonly channelId: string | null
  /** Undefined for a walk over a whole list. */
  readonly window: Window | undefined
  /** Of problems. */
  readonly proof: Proof | null
  /** Of problems: what is missing or went wrong, in English. May quote what the service said. */
  readonly reason: string | null
  /** Of all but gaps. */
  readonly at: Date | null
}

/** Ranges inside what a partition covers that are not covered; the newest first, at most `most`. */
export async function readGaps(db: Kysely<Database>, most: number): Promise<readonly OpenReading[]> {
  const { rows } = await sql<ReadingRow>`
    select 'gap' as kind, stream, partition, channel_id, lower(gap)::text as lower, upper(gap)::text as upper,
      null as proof, null as reason, null::timestamptz as at
    from ${coverageGaps} as gaps order by upper(gap) desc, stream, partition limit ${most}`.execute(db)
  return rows.map(readingOf)
}

/** Readings that fell short or failed, and that no later one has made good; of active channels and the account, the newest first. */
export async function readOpenProblems(db: Kysely<Database>, most: number): Promise<readonly OpenReading[]> {
  const { rows } = await sql<ReadingRow>`
    select 'problem' as kind, stream, partition, channel_id, lower(reads)::text as lower, upper(reads)::text as upper, proof,
      error as reason, finished_at as at
    from ${openProblems} as problems left join livehouse.channels using (channel_id)
    where channel_id is null or state = 'active' order by slice_id desc limit ${most}`.execute(db)
  return rows.map(readingOf)
}

/** Shortfalls that an operator has acknowledged, and that no later reading has taken the place of; the newest first. */
export async function readAcceptedShortfalls(db: Kysely<Database>, most: number): Promise<readonly OpenReading[]> {
  const { rows } = await sql<ReadingRow>`
    select 'accepted' as kind, stream, partition, channel_id, lower(reads)::text as lower, upper(reads)::text as upper,
      proof, error as reason, finished_at as at
    from ${acceptedShortfalls} as accepted order by slice_id desc limit ${most}`.execute(db)
  return rows.map(readingOf)
}

interface ReadingRow {
  readonly kind: OpenReading['kind']
  readonly stream: string
  readonly partition: string
  readonly channel_id: string | null
  readonly lower: string | null
  readonly upper: string | null
  readonly proof: Proof | null
  readonly reason: string | null
  readonly at: Date | null
}

function readingOf({ channel_id, lower, upper, ...rest }: ReadingRow): OpenReading {
  return { ...rest, channelId: channel_id, window: readBounds(lower, upper) }
}

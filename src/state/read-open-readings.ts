import { type Kysely, sql } from 'kysely'
import type { Proof, Window } from '../core/slice.ts'
import type { Database } from '../db/database.ts'
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
    with covered as (
      select stream, partition, range_agg(covers) as ranges from livehouse_ops.slices
      where status = 'landed' and covers is not null group by stream, partition
    )
    select 'gap' as kind, stream, partition, substring(partition from '^channel=([^/]+)') as channel_id,
      lower(gap)::text as lower, upper(gap)::text as upper, null as proof, null as reason, null::timestamptz as at
    from covered, unnest(tsmultirange(range_merge(ranges)) - ranges) as gap
    order by upper(gap) desc, stream, partition limit ${most}`.execute(db)
  return rows.map(readingOf)
}

/**
 * Readings that fell short or failed; of active channels and the account, the newest first. A later one makes good what it
 * covers: the youngest minutes, which no reading covers, are not waited for.
 */
export async function readOpenProblems(db: Kysely<Database>, most: number): Promise<readonly OpenReading[]> {
  const { rows } = await sql<ReadingRow>`
    with bad as (
      select distinct on (stream, partition, reads) stream, partition, reads, coalesce(covers, reads) as wanted, proof,
        error, finished_at as at, slice_id, substring(partition from '^channel=([^/]+)') as channel_id
      from livehouse_ops.slices where status = 'failed' order by stream, partition, reads, slice_id desc
    )
    select 'problem' as kind, stream, partition, channel_id, lower(reads)::text as lower, upper(reads)::text as upper, proof,
      error as reason, at
    from bad left join livehouse.channels using (channel_id)
    where (channel_id is null or state = 'active')
      and case when reads is null then not exists (
        select from livehouse_ops.slices as later where later.stream = bad.stream and later.partition = bad.partition
          and later.reads is null and later.status in ('landed', 'moving') and later.slice_id > bad.slice_id)
      else not coalesce((
        select range_agg(covers) @> bad.wanted from livehouse_ops.slices as landed where landed.stream = bad.stream
          and landed.partition = bad.partition and landed.status = 'landed' and landed.covers && bad.wanted), false) end
    order by slice_id desc limit ${most}`.execute(db)
  return rows.map(readingOf)
}

/** Shortfalls that an operator has acknowledged, the newest first. */
export async function readAcceptedShortfalls(db: Kysely<Database>, most: number): Promise<readonly OpenReading[]> {
  const { rows } = await sql<ReadingRow>`
    select 'accepted' as kind, stream, partition, substring(partition from '^channel=([^/]+)') as channel_id,
      lower(reads)::text as lower, upper(reads)::text as upper, proof, error as reason, finished_at as at
    from livehouse_ops.slices where proof = 'accepted' and status = 'landed'
    order by slice_id desc limit ${most}`.execute(db)
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

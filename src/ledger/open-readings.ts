import { type Kysely, sql } from 'kysely'
import type { Proof, Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { parseRange } from './wall-range.ts'

const kinds = ['problem', 'gap', 'accepted'] as const

/** A range that is not covered, a reading that fell short or failed and that no later one has made good, or an accepted one. */
export interface OpenReading {
  readonly kind: (typeof kinds)[number]
  readonly stream: string
  readonly partition: string
  /** Null for the account. */
  readonly channelId: string | null
  /** Undefined for a walk over a whole list. */
  readonly window: Window | undefined
  /** Of all but gaps. */
  readonly proof: Proof | null
  /** Of all but gaps: what is missing or went wrong, in English. May quote what the service said. */
  readonly reason: string | null
  /** Of all but gaps. */
  readonly at: Date | null
}

/** What is open in active channels and the account. */
export interface OpenReadings {
  /** Problems, gaps, accepted ones; of each kind the newest first. */
  readonly open: readonly OpenReading[]
  /** How many there are of each kind, listed or not. */
  readonly openCounts: Readonly<Record<OpenReading['kind'], number>>
  /** All problems, listed or not. */
  readonly problems: readonly ProblemCount[]
}

/** The problems of one stream in one channel, or in the account. */
export interface ProblemCount {
  readonly stream: string
  /** Null for the account. */
  readonly channelId: string | null
  readonly readings: number
  /** How many partitions have one. */
  readonly partitions: number
}

/** @param most how many of each kind are listed @param channelId of one channel; of all when not given */
export async function readOpenReadings(db: Kysely<Database>, most: number, channelId?: string): Promise<OpenReadings> {
  const open: OpenReading[] = []
  const openCounts = { gap: 0, problem: 0, accepted: 0 }
  for (const kind of kinds) {
    const rows = await db
      .selectFrom('livehouse_ops.open_readings')
      .select(['stream', 'partition', 'channel_id', 'proof', 'error', 'read_at', 'reads'])
      .select(({ fn }) => fn.countAll<string>().over().as('count'))
      // A constant, so that the other parts of the view are not read.
      .where('kind', '=', sql.lit(kind))
      .where('is_active', '=', true)
      .$if(channelId !== undefined, (query) => query.where('channel_id', '=', channelId ?? ''))
      .orderBy('slice_id', 'desc')
      .orderBy(sql`upper(reads)`, 'desc')
      .orderBy('stream')
      .orderBy('partition')
      .limit(most)
      .execute()
    openCounts[kind] = Number(rows[0]?.count ?? 0)
    open.push(
      ...rows.map(({ channel_id: channelId, error: reason, read_at: at, reads, stream, partition, proof }) => {
        return { kind, stream, partition, proof, channelId, reason, at, window: parseRange(reads) }
      }),
    )
  }
  // Where all are listed, they need not be counted by the database.
  const listed = open.filter(({ kind }) => kind === 'problem')
  const problems = openCounts.problem > listed.length ? await readProblemCounts(db) : countProblems(listed)
  return { open, openCounts, problems }
}

/** Adds problems up by stream and channel. */
export function countProblems(open: readonly OpenReading[]): readonly ProblemCount[] {
  const groups = Map.groupBy(open, ({ stream, channelId }) => JSON.stringify([stream, channelId]))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    const partitions = new Set(group.map(({ partition }) => partition)).size
    return first ? [{ stream: first.stream, channelId: first.channelId, readings: group.length, partitions }] : []
  })
}

async function readProblemCounts(db: Kysely<Database>): Promise<readonly ProblemCount[]> {
  const rows = await db
    .selectFrom('livehouse_ops.open_readings')
    .select(['stream', 'channel_id as channelId'])
    .select(({ fn }) => [
      fn.countAll<string>().as('readings'),
      fn.count<string>('partition').distinct().as('partitions'),
    ])
    .where('kind', '=', sql.lit('problem'))
    .where('is_active', '=', true)
    .groupBy(['stream', 'channel_id'])
    .execute()
  return rows.map((row) => ({ ...row, readings: Number(row.readings), partitions: Number(row.partitions) }))
}

/** A reading that fell short, and that no later one has made good or found anew. */
export interface OpenShortfall {
  readonly sliceId: string
  readonly partition: string
  /** What it read; undefined for a walk over the whole list. */
  readonly window: Window | undefined
  /** Undefined where the ledger does not say: it was read before this was kept. */
  readonly missingRows: number | undefined
  readonly reason: string | null
}

/** The open shortfalls of a channel in all its partitions, or of the account (null), the newest first. */
export async function readShortfalls(
  db: Kysely<Database>,
  stream: StreamName,
  channelId: string | null,
): Promise<readonly OpenShortfall[]> {
  const rows = await db
    .selectFrom('livehouse_ops.open_readings as bad')
    .select(['slice_id', 'partition', 'error', 'missing_rows', 'reads'])
    .where('kind', '=', sql.lit('problem'))
    .where('stream', '=', stream)
    .where('channel_id', 'is not distinct from', channelId)
    .where('proof', '=', 'short')
    // Ranges that meet are beyond the builder.
    .where(
      sql<boolean>`not exists (
        select from livehouse_ops.slices as later where later.stream = bad.stream and later.partition = bad.partition
          and coalesce(later.piece_of, later.slice_id) > bad.slice_id and later.proof in ('short', 'accepted')
          and (bad.reads is null or later.reads && bad.reads))`,
    )
    .orderBy('slice_id', 'desc')
    .execute()
  return rows.map(({ slice_id, partition, missing_rows, error, reads }) => ({
    sliceId: slice_id ?? '',
    partition,
    window: parseRange(reads),
    missingRows: missing_rows === null ? undefined : Number(missing_rows),
    reason: error,
  }))
}

import { type Kysely, sql } from 'kysely'
import { parseRange, type Proof, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { readGaps } from './coverage.ts'

const kinds = ['problem', 'gap', 'accepted'] as const

/** A range that is not covered, a reading that fell short or failed and that no later one has made good, or an accepted one. */
export interface OpenReading {
  /** Null for gaps. */
  readonly sliceId: string | null
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
  /** Of a shortfall; null where the ledger does not say. */
  readonly missingRows: number | null
  /** The acceptance by which an accepted one counts. */
  readonly acceptanceId: string | null
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
    const rows = await selectOpen(db)
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
    open.push(...rows.map(toReading))
  }
  const problems = openCounts.problem === 0 ? [] : await readProblemCounts(db, channelId)
  return { open, openCounts, problems }
}

async function readProblemCounts(db: Kysely<Database>, channelId?: string): Promise<readonly ProblemCount[]> {
  const rows = await db
    .selectFrom('livehouse_ops.open_readings')
    .select(['stream', 'channel_id as channelId'])
    .select(({ fn }) => [
      fn.countAll<string>().as('readings'),
      fn.count<string>('partition').distinct().as('partitions'),
    ])
    .where('kind', '=', sql.lit('problem'))
    .where('is_active', '=', true)
    .$if(channelId !== undefined, (query) => query.where('channel_id', '=', channelId ?? ''))
    .groupBy(['stream', 'channel_id'])
    .execute()
  return rows.map((row) => ({ ...row, readings: Number(row.readings), partitions: Number(row.partitions) }))
}

/** What is open of one stream but its gaps, also of channels that are not active, the newest first. */
export async function readOpenOfStream(db: Kysely<Database>, stream: StreamName): Promise<readonly OpenReading[]> {
  const rows = await selectOpen(db)
    .where('kind', '!=', 'gap')
    .where('stream', '=', stream)
    .orderBy('slice_id', 'desc')
    .execute()
  return rows.map(toReading)
}

/**
 * The shortfalls of a channel in all its partitions, or of the account (null), that no later one has found anew; the newest
 * first.
 */
export async function readShortfalls(
  db: Kysely<Database>,
  stream: StreamName,
  channelId: string | null,
): Promise<readonly OpenReading[]> {
  const open = (await readOpenOfStream(db, stream)).filter((each) => each.channelId === channelId)
  const isFoundAnew = ({ partition, window }: OpenReading, later: OpenReading) =>
    later.proof !== 'failed' && later.partition === partition && meets(later.window, window)
  return open.filter((bad, index) => {
    const isShort = bad.kind === 'problem' && bad.proof === 'short'
    return isShort && !open.slice(0, index).some((later) => isFoundAnew(bad, later))
  })
}

/** A whole list meets every window. */
export function meets(one: Window | undefined, other: Window | undefined): boolean {
  return one === undefined || other === undefined || (one.from < other.to && one.to > other.from)
}

function selectOpen(db: Kysely<Database>) {
  return db
    .selectFrom('livehouse_ops.open_readings')
    .select(['kind', 'stream', 'partition', 'channel_id as channelId', 'proof', 'error as reason', 'read_at as at'])
    .select(['reads', 'slice_id as sliceId', 'missing_rows', 'acceptance_id as acceptanceId'])
}

type OpenRow = Awaited<ReturnType<ReturnType<typeof selectOpen>['execute']>>[number]

function toReading(row: OpenRow): OpenReading {
  const { kind, stream, partition, channelId, proof, reason, at, sliceId, acceptanceId } = row
  const missingRows = row.missing_rows === null ? null : Number(row.missing_rows)
  const window = parseRange(row.reads)
  return { kind, stream, partition, channelId, window, proof, reason, at, missingRows, sliceId, acceptanceId }
}

/** What the ledger holds of one partition, within what is wanted of it. */
export interface LedgerEntry {
  /** Within the wanted range, oldest first; none for a snapshot. */
  readonly covered: readonly Window[]
  readonly gaps: readonly Window[]
  /** The last reading that landed; undefined where none has. */
  readonly lastLanded: { readonly at: Date; readonly proof: Proof } | undefined
  /** Readings that fell short or failed, and that no later one has made good, and accepted ones; the newest first. */
  readonly open: readonly OpenReading[]
}

/** A partition, and what is wanted of it; undefined for a walk over the whole list. */
export interface LedgerQuestion {
  readonly partition: string
  readonly window: Window | undefined
}

/** What the ledger holds of partitions of one stream, by partition. Each is asked for once. */
export async function readLedger(
  db: Kysely<Database>,
  stream: StreamName,
  questions: readonly LedgerQuestion[],
): Promise<ReadonlyMap<string, LedgerEntry>> {
  const wanted = questions.flatMap(({ partition, window }) => (window === undefined ? [] : [{ partition, window }]))
  const gapsOf = await readGaps(db, stream, wanted)
  const landed = await readLastLanded(db, stream)
  const open = Map.groupBy(await readOpenOfStream(db, stream), ({ partition }) => partition)
  return new Map(
    questions.map(({ partition, window }) => {
      const gaps = window === undefined ? [] : (gapsOf.get(partition) ?? [])
      const entry: LedgerEntry = {
        covered: window === undefined ? [] : between(gaps, window),
        gaps,
        lastLanded: landed.get(partition),
        open: open.get(partition)?.filter((reading) => meets(reading.window, window)) ?? [],
      }
      return [partition, entry]
    }),
  )
}

/** What of a window lies between gaps in it, oldest first. */
function between(gaps: readonly Window[], { from, to }: Window): readonly Window[] {
  const starts = [from, ...gaps.map((gap) => gap.to)]
  const ends = [...gaps.map((gap) => gap.from), to]
  return starts.flatMap((start, index) => {
    const end = ends[index] ?? to
    return start < end ? [{ from: start, to: end }] : []
  })
}

async function readLastLanded(db: Kysely<Database>, stream: StreamName) {
  const rows = await db
    .selectFrom('livehouse_ops.latest_readings')
    .select(['partition', 'landed_at as at', 'landed_proof as proof'])
    .where('stream', '=', stream)
    .where('landed_at', 'is not', null)
    .$narrowType<{ at: Date; proof: Proof }>()
    .execute()
  return new Map(rows.map(({ partition, at, proof }) => [partition, { at, proof }]))
}

import { type Kysely, sql } from 'kysely'
import { parseRange, type Proof, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'

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

/** What is open of one stream but its gaps, also of channels that are not active, the newest first. */
export async function readOpenOfStream(db: Kysely<Database>, stream: StreamName): Promise<readonly OpenReading[]> {
  const rows = await selectOpen(db)
    .where('kind', '!=', 'gap')
    .where('stream', '=', stream)
    .orderBy('slice_id', 'desc')
    .execute()
  return rows.map(toReading)
}

/** The shortfalls of a channel in all its partitions, or of the account (null), that no later one has found anew; the newest first. */
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

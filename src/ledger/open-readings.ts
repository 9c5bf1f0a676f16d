import { sql } from 'kysely'
import { parseRange, type Proof, subtractWindows, type Window } from '../core/slice.ts'
import type { Db } from '../store/database.ts'
import { readGaps } from './slices/coverage.ts'
import { ops, type Row } from './ops.ts'

type OpenRow = Row<'open_readings'>

/**
 * A gap (a range that is not covered), a problem (a reading that fell short or failed, and no later one has succeeded),
 * or an accepted shortfall. `channelId` is null for the account, and of a gap all that comes from a reading is null.
 */
export interface OpenReading
  extends Pick<OpenRow, 'sliceId' | 'kind' | 'stream' | 'partition' | 'channelId' | 'proof' | 'acceptanceId'> {
  /** Undefined for a walk over a whole list. */
  readonly window: Window | undefined
  /** What is missing or went wrong, in English. May quote what the service said. */
  readonly reason: string | null
  readonly at: Date | null
  /** Of a shortfall; null where the ledger does not say. */
  readonly missingRows: number | null
}

/** The open readings of active channels and the account. */
export type OpenReadings = Awaited<ReturnType<typeof readOpenReadings>>

/** @param most how many of each kind are listed @param channelId the only one; all when not given */
export async function readOpenReadings(db: Db, most: number, channelId?: string) {
  const open: OpenReading[] = []
  const openCounts = { gap: 0, problem: 0, accepted: 0 }
  const active = ops(db)
    .selectFrom('open_readings')
    .where('isActive', '=', true)
    .$if(channelId !== undefined, (query) => query.where('channelId', '=', channelId ?? ''))
  // A constant, so that the other parts of the view are not read.
  const ofKind = (kind: OpenReading['kind']) => active.where('kind', '=', sql.lit(kind))
  for (const kind of ['problem', 'gap', 'accepted'] as const) {
    const rows = await ofKind(kind)
      .selectAll()
      .select(({ fn }) => fn.countAll<string>().over().as('count'))
      .orderBy('sliceId', 'desc')
      .orderBy(({ fn }) => fn('upper', ['reads']), 'desc')
      .orderBy('stream')
      .orderBy('partition')
      .limit(most)
      .execute()
    openCounts[kind] = Number(rows[0]?.count ?? 0)
    open.push(...rows.map(toReading))
  }
  const problems = ofKind('problem')
    .select(({ fn }) => ['stream', 'channelId', fn.countAll<string>().as('readings')])
    .groupBy(['stream', 'channelId'])
  const counts = openCounts.problem === 0 ? [] : await problems.execute()
  return {
    /** Problems, then gaps, then accepted shortfalls; of each kind the newest first. */
    open,
    /** How many there are of each kind, listed or not. */
    openCounts,
    /** How many problems there are of each stream in each channel, and in the account. */
    problems: counts.map((row) => ({ ...row, readings: Number(row.readings) })),
  }
}

/** The open readings of one stream, but not its gaps; also of channels that are not active. The newest first. */
async function readOpenOfStream(db: Db, stream: string): Promise<readonly OpenReading[]> {
  const open = ops(db).selectFrom('open_readings').selectAll().where('kind', '!=', 'gap').where('stream', '=', stream)
  return (await open.orderBy('sliceId', 'desc').execute()).map(toReading)
}

/** The shortfalls of a channel, or of the account (null), that no later reading has found again; the newest first. */
export async function readShortfalls(
  db: Db,
  stream: string,
  channelId: string | null,
): Promise<readonly OpenReading[]> {
  const open = (await readOpenOfStream(db, stream)).filter((each) => each.channelId === channelId)
  const isFoundAnew = ({ partition, window }: OpenReading, later: OpenReading) =>
    later.proof !== 'failed' && later.partition === partition && areOverlapping(later.window, window)
  return open.filter((bad, index) => {
    const isShort = bad.kind === 'problem' && bad.proof === 'short'
    return isShort && !open.slice(0, index).some((later) => isFoundAnew(bad, later))
  })
}

/** Whether they overlap; a whole list overlaps every window. */
export function areOverlapping(one: Window | undefined, other: Window | undefined): boolean {
  return one === undefined || other === undefined || (one.from < other.to && one.to > other.from)
}

function toReading(row: OpenRow): OpenReading {
  const { sliceId, kind, stream, partition, channelId, proof, acceptanceId, error: reason, readAt: at } = row
  const missingRows = row.missingRows === null ? null : Number(row.missingRows)
  const window = parseRange(row.reads)
  return { sliceId, kind, stream, partition, channelId, proof, acceptanceId, reason, at, window, missingRows }
}

/** What the ledger holds of one partition, within what is wanted of it. */
export interface LedgerEntry {
  /** Within the wanted range, oldest first; none for a snapshot. */
  readonly covered: readonly Window[]
  readonly gaps: readonly Window[]
  /** The last reading that landed; undefined where none has. */
  readonly lastLanded: { readonly at: Date; readonly proof: Proof } | undefined
  /** Problems and accepted shortfalls; the newest first. */
  readonly open: readonly OpenReading[]
}

/** What the ledger holds of partitions of one stream, by partition. `window`: what is wanted; undefined for a list. */
export async function readLedger(
  db: Db,
  stream: string,
  questions: readonly Pick<OpenReading, 'partition' | 'window'>[],
): Promise<ReadonlyMap<string, LedgerEntry>> {
  const wanted = questions.flatMap(({ partition, window }) => (window === undefined ? [] : [{ partition, window }]))
  const gapsOf = await readGaps(db, stream, wanted)
  const landed = await readLastLanded(db, stream)
  const open = Map.groupBy(await readOpenOfStream(db, stream), ({ partition }) => partition)
  return new Map(
    questions.map(({ partition, window }) => {
      const gaps = window === undefined ? [] : (gapsOf.get(partition) ?? [])
      const entry: LedgerEntry = {
        covered: window === undefined ? [] : subtractWindows(window, gaps),
        gaps,
        lastLanded: landed.get(partition),
        open: open.get(partition)?.filter((reading) => areOverlapping(reading.window, window)) ?? [],
      }
      return [partition, entry]
    }),
  )
}

async function readLastLanded(db: Db, stream: string) {
  const rows = await ops(db)
    .selectFrom('latest_readings')
    .select(['partition', 'landedAt as at', 'landedProof as proof'])
    .where('stream', '=', stream)
    .where('landedAt', 'is not', null)
    .$narrowType<{ at: Date; proof: Proof }>()
    .execute()
  return new Map(rows.map(({ partition, at, proof }) => [partition, { at, proof }]))
}

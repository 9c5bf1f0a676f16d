import { sql } from 'kysely'
import { type Proof, parseRange, subtractWindows, type Window } from '../core/slice.ts'
import type { Db } from '../store/database.ts'
import { ops, type Row } from './ops.ts'
import { readGaps } from './slices/coverage.ts'

type OpenRow = Row<'open_readings'>

/**
 * A gap (a range that is not covered), a problem (a reading that fell short or failed, with no later success), or an
 * accepted shortfall. `channelId` is null for the account. A gap has null for everything that a reading would provide.
 */
export interface OpenReading
  extends Pick<OpenRow, 'sliceId' | 'kind' | 'stream' | 'partition' | 'channelId' | 'proof' | 'acceptanceId'> {
  /** Undefined for a whole list. */
  readonly window: Window | undefined
  /** What is missing or went wrong, in English. May quote the service. */
  readonly reason: string | null
  /** How many rows a shortfall lacks; null if the ledger does not say. */
  readonly missingRows: number | null
}

/** The open readings of active channels and the account. */
export type OpenReadings = Awaited<ReturnType<typeof readOpenReadings>>

/** Reads what is open. @param limit how many of each kind to list @param channelId all channels when not given */
export async function readOpenReadings(db: Db, limit: number, channelId?: string) {
  const open: OpenReading[] = []
  const openCounts = { gap: 0, problem: 0, accepted: 0 }
  const active = ops(db)
    .selectFrom('open_readings')
    .where('isActive', '=', true)
    .$if(channelId !== undefined, (query) => query.where('channelId', '=', channelId ?? ''))
  // A literal, so that the planner drops the other branches of the view.
  const ofKind = (kind: OpenReading['kind']) => active.where('kind', '=', sql.lit(kind))
  for (const kind of ['problem', 'gap', 'accepted'] as const) {
    const rows = await ofKind(kind)
      .selectAll()
      .select(({ fn }) => fn.countAll<string>().over().as('count'))
      .orderBy('sliceId', 'desc')
      .orderBy(({ fn }) => fn('upper', ['reads']), 'desc')
      .orderBy('stream')
      .orderBy('partition')
      .limit(limit)
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
    /** How many problems each stream has in each channel and in the account. */
    problems: counts.map((row) => ({ ...row, readings: Number(row.readings) })),
  }
}

/** The problems and accepted shortfalls of one stream, also in channels that are not active, newest first. */
async function readOpenInStream(db: Db, stream: string): Promise<readonly OpenReading[]> {
  const open = ops(db).selectFrom('open_readings').selectAll().where('kind', '!=', 'gap').where('stream', '=', stream)
  return (await open.orderBy('sliceId', 'desc').execute()).map(toReading)
}

/** The shortfalls of a channel (null: the account) that no later reading has reported again, newest first. */
export async function readShortfalls(
  db: Db,
  stream: string,
  channelId: string | null,
): Promise<readonly OpenReading[]> {
  const open = (await readOpenInStream(db, stream)).filter((each) => each.channelId === channelId)
  const isReportedAgain = ({ partition, window }: OpenReading, later: OpenReading) =>
    later.proof !== 'failed' && later.partition === partition && areOverlapping(later.window, window)
  return open.filter((bad, index) => {
    const isShort = bad.kind === 'problem' && bad.proof === 'short'
    return isShort && !open.slice(0, index).some((later) => isReportedAgain(bad, later))
  })
}

/** Whether two windows overlap. Undefined is a whole list, which overlaps every window. */
export function areOverlapping(one: Window | undefined, other: Window | undefined): boolean {
  return one === undefined || other === undefined || (one.from < other.to && one.to > other.from)
}

function toReading(row: OpenRow): OpenReading {
  const { sliceId, kind, stream, partition, channelId, proof, acceptanceId, error: reason } = row
  const missingRows = row.missingRows === null ? null : Number(row.missingRows)
  const window = parseRange(row.reads)
  return { sliceId, kind, stream, partition, channelId, proof, acceptanceId, reason, window, missingRows }
}

/** What the ledger holds about one partition, within its wanted range. */
export interface LedgerEntry {
  /** Oldest first; none for a whole list. */
  readonly covered: readonly Window[]
  readonly gaps: readonly Window[]
  /** The last reading that landed; undefined if none has. */
  readonly lastLanded: { readonly at: Date; readonly proof: Proof } | undefined
  /** Problems and accepted shortfalls, newest first. */
  readonly open: readonly OpenReading[]
}

/** What the ledger holds about partitions of one stream. `window`: the wanted range; undefined for a whole list. */
export async function readLedger(
  db: Db,
  stream: string,
  questions: readonly Pick<OpenReading, 'partition' | 'window'>[],
): Promise<ReadonlyMap<string, LedgerEntry>> {
  const ranges = questions.flatMap(({ partition, window }) => (window === undefined ? [] : [{ partition, window }]))
  const gapsOf = await readGaps(db, stream, ranges)
  const lastLanded = await readLastLanded(db, stream)
  const open = Map.groupBy(await readOpenInStream(db, stream), ({ partition }) => partition)
  return new Map(
    questions.map(({ partition, window }) => {
      const gaps = window === undefined ? [] : (gapsOf.get(partition) ?? [])
      const entry: LedgerEntry = {
        covered: window === undefined ? [] : subtractWindows(window, gaps),
        gaps,
        lastLanded: lastLanded.get(partition),
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

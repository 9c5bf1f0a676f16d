import type { Kysely } from 'kysely'
import type { Proof, Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { readCoverage } from './coverage.ts'
import { parseRange } from './wall-range.ts'

/** A reading that fell short or failed, and that no later one has made good. */
export interface OpenProblem {
  /** What it read; undefined for a walk over the whole list. */
  readonly window: Window | undefined
  readonly proof: Proof
  readonly reason: string | null
  readonly at: Date
}

/** A reading that fell short and was accepted; it counts as covered, and is not proven. */
export interface AcceptedPart {
  /** What it read; undefined for a walk over the whole list. */
  readonly window: Window | undefined
  /** The number of the acceptance. */
  readonly acceptanceId: string
  readonly missingRows: number
  /** The operator's. */
  readonly reason: string
  readonly expiresAt: Date
}

/** What the ledger holds of one partition, within what is wanted of it. */
export interface LedgerEntry {
  /** Within the wanted range, oldest first; none for a snapshot. */
  readonly covered: readonly Window[]
  readonly gaps: readonly Window[]
  /** The last reading that landed; undefined where none has. */
  readonly lastLanded: { readonly at: Date; readonly proof: Proof } | undefined
  /** The newest first. */
  readonly problems: readonly OpenProblem[]
  /** The newest first. */
  readonly accepted: readonly AcceptedPart[]
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
  const coverage = await readCoverage(db, stream, wanted)
  const landed = await readLastLanded(db, stream)
  const open = await readOpen(db, stream)
  return new Map(
    questions.map(({ partition, window }) => {
      const gaps = window === undefined ? [] : (coverage.get(partition)?.gaps ?? [])
      const readings = open.get(partition)?.filter((reading) => window === undefined || meets(reading.window, window))
      const entry: LedgerEntry = {
        covered: window === undefined ? [] : between(gaps, window),
        gaps,
        lastLanded: landed.get(partition),
        problems: readings?.flatMap(({ problem }) => problem ?? []) ?? [],
        accepted: readings?.flatMap(({ accepted }) => accepted ?? []) ?? [],
      }
      return [partition, entry]
    }),
  )
}

/** A whole list meets every window. */
function meets(read: Window | undefined, { from, to }: Window): boolean {
  return read === undefined || (read.from < to && read.to > from)
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

/** The newest first. */
async function readOpen(db: Kysely<Database>, stream: StreamName) {
  const rows = await db
    .selectFrom('livehouse_ops.open_readings as reading')
    .leftJoin('livehouse_ops.acceptances as acceptance', 'acceptance.acceptance_id', 'reading.acceptance_id')
    .select(['partition', 'reads', 'proof', 'error', 'read_at', 'reading.missing_rows', 'reason', 'expires_at'])
    .select(['reading.acceptance_id', 'acceptance.missing_rows as accepted_rows'])
    .where('kind', '!=', 'gap')
    .where('reading.stream', '=', stream)
    .orderBy('slice_id', 'desc')
    .execute()
  const readings = rows.map(({ partition, proof, error, read_at, acceptance_id, reason, expires_at, ...row }) => {
    const window = parseRange(row.reads)
    const problem =
      proof && read_at && acceptance_id === null ? { window, proof, reason: error, at: read_at } : undefined
    const missingRows = Number(row.missing_rows ?? row.accepted_rows)
    const accepted =
      acceptance_id && reason !== null && expires_at
        ? { window, acceptanceId: acceptance_id, missingRows, reason, expiresAt: expires_at }
        : undefined
    return { partition, window, problem, accepted }
  })
  return Map.groupBy(readings, ({ partition }) => partition)
}

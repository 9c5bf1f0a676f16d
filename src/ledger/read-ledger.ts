import type { Kysely } from 'kysely'
import type { Proof, Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { readGaps } from './coverage.ts'
import { meets, type OpenReading, readOpenOfStream } from './open-readings.ts'

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

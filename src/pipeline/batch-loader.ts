import type { Transaction } from 'kysely'
import type { Row } from '../core/column.ts'
import { addCounts, type Counts, noCounts } from '../core/outcome.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { replaceChildren } from '../warehouse/children.ts'
import { isDeadlock } from '../warehouse/is-deadlock.ts'
import { type LoadCounts, prepareToLoad } from '../warehouse/load.ts'
import type { RowBuffer } from '../warehouse/row-buffers.ts'
import { keepConflicts } from './keep-conflicts.ts'
import { lightChunksOf } from './light-chunks-of.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Rows a statement, and up to a page more; measured: half as many take 8 % longer, more gain nothing. */
const BATCH = 2000
/** Of a transaction that the server ends, since another waits for it. */
const MOST_TRIES = 5

export interface BatchLoader {
  /**
   * Takes rows; of a stream whose rows have a key it commits every full batch, while more rows are taken. Waits for the turn
   * of a batch, and fails with the error of an earlier one.
   */
  readonly add: (rows: readonly Row[]) => Promise<void>
  /** Commits what is held back, so that another walk may bring the same keys. */
  readonly flush: () => Promise<void>
  /**
   * Commits what is left together with `land`: the slice lands with its last rows, after all its others. `written`: all that
   * came to be.
   */
  readonly finish: (land: (trx: Transaction<Database>, written: Counts) => Promise<void>) => Promise<void>
  /** Waits for batches that are under way, however they end: a slice is over only when nothing of it is written any more. */
  readonly settle: () => Promise<void>
  /** Of what has been committed. */
  readonly counts: () => Counts
}

/** Rows that are written together, and these rows themselves where they are looked at before. */
interface Batch {
  readonly buffer: RowBuffer
  rows: readonly Row[]
}

/**
 * Writes rows of one slice: batch by batch in transactions of their own where the rows have a key, all of them in the last
 * transaction where they have none. Keys must be distinct.
 */
export function createBatchLoader(
  { stream, partition }: Slice,
  { db, clock, timeZone, runId, loadTurns, rowBuffers, requireLease }: RunDeps,
): BatchLoader {
  const isWhole = stream.identity !== undefined
  const looksAtRows = stream.versions !== undefined || stream.children !== undefined
  const takeBuffer = rowBuffers.open(stream)
  const underway = new Set<Promise<void>>()
  const open = (): Batch => ({ buffer: takeBuffer(), rows: [] })
  const put = (batch: Batch, rows: readonly Row[]): void => {
    batch.buffer.append(rows)
    if (looksAtRows) batch.rows = [...batch.rows, ...rows]
  }
  let failure: { readonly error: unknown } | undefined
  /** The one that is being filled. */
  let batch: Batch | undefined
  let whole: readonly Row[] = []
  let counts = noCounts

  const write = async (trx: Transaction<Database>, { buffer, rows }: Batch): Promise<Counts> => {
    const finder = { runId, seenAt: new Date(clock.now()), timeZone }
    const conflicts = await keepConflicts(trx, stream, partition, rows, finder)
    const loaded = await buffer.write(trx)
    if (stream.children) await replaceChildren(trx, stream.children, rows, runId)
    return addCounts(noCounts, yieldsTo(stream) ? withConflicts(loaded, conflicts) : loaded)
  }
  const writeWhole = async (trx: Transaction<Database>): Promise<Counts> => {
    let sum = noCounts
    for (const rows of lightChunksOf(whole, BATCH)) {
      const filled = open()
      put(filled, rows)
      sum = addCounts(sum, await write(trx, filled))
      filled.buffer.giveBack()
    }
    return sum
  }
  /** Slices that lie side by side share rows: where two wait for each other, the server ends one, which then tries again. */
  const commit = async (work: (trx: Transaction<Database>) => Promise<Counts>, tries = MOST_TRIES): Promise<void> => {
    try {
      const loaded = await db.transaction().execute(async (trx) => {
        await prepareToLoad(trx, timeZone)
        const written = await work(trx)
        await requireLease(trx, stream.name, partition)
        return written
      })
      counts = addCounts(counts, loaded)
    } catch (error) {
      if (tries === 1 || !isDeadlock(error)) throw error
      await commit(work, tries - 1)
    }
  }
  /** Begins as soon as it is this batch's turn; how it ends is told to whoever comes next. */
  const commitAhead = async (filled: Batch): Promise<void> => {
    const endTurn = await loadTurns.take()
    batch = undefined
    // What could not be written may still be on its way to the server: its buffer is not used again.
    const work: Promise<void> = commit(async (trx) => await write(trx, filled))
      .then(filled.buffer.giveBack, (error: unknown) => {
        failure ??= { error }
      })
      .finally(() => {
        underway.delete(work)
        endTurn()
      })
    underway.add(work)
  }
  const settle = async (): Promise<void> => {
    await Promise.all(underway)
  }
  const throwFailure = (): void => {
    if (failure) throw failure.error
  }

  return {
    add: async (rows) => {
      throwFailure()
      if (rows.length === 0) return
      if (isWhole) {
        whole = [...whole, ...rows]
        return
      }
      for (const chunk of chunksOf(rows)) {
        batch ??= open()
        put(batch, chunk)
        if (batch.buffer.size() >= BATCH) await commitAhead(batch)
      }
    },
    flush: async () => {
      if (batch) await commitAhead(batch)
      await settle()
      throwFailure()
    },
    finish: async (land) => {
      await settle()
      throwFailure()
      // What was held is written at once, in texts and buffers of its own: few at a time.
      const endTurn = isWhole ? await loadTurns.take() : () => {}
      try {
        await commit(async (trx) => {
          const sum = batch ? await write(trx, batch) : await writeWhole(trx)
          await land(trx, addCounts(counts, sum))
          return sum
        })
      } finally {
        endTurn()
      }
      batch?.buffer.giveBack()
      batch = undefined
      whole = []
    },
    settle,
    counts: () => counts,
  }
}

/** Whether the rows of another stream stay where both have the same key. */
function yieldsTo({ versions }: Stream): boolean {
  return versions !== undefined && versions.own < versions.rival.version
}

/** Rows that yielded to another record. */
function withConflicts(loaded: LoadCounts, conflicts: number): Partial<Counts> {
  return { ...loaded, unchanged: loaded.unchanged - conflicts, quarantined: conflicts }
}

function* chunksOf(rows: readonly Row[]): Iterable<readonly Row[]> {
  if (rows.length <= BATCH) yield rows
  else for (let start = 0; start < rows.length; start += BATCH) yield rows.slice(start, start + BATCH)
}

import type { Transaction } from 'kysely'
import PQueue from 'p-queue'
import type { Row } from '../core/column.ts'
import { addCounts, type Counts, noCounts } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { replaceChildren } from '../store/load/children.ts'
import { type Batch, createBatch, prepareToLoad, transact } from '../store/load/load.ts'
import { keepConflicts } from './keep-conflicts.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Batches written at once; measured: more gain nothing. */
const LOADERS = 2

/** Writes the rows of one slice. */
export type BatchLoader = ReturnType<typeof createBatchLoader>

/** Bounds the batches that a run writes at once. */
export function createLoadQueue(): PQueue {
  return new PQueue({ concurrency: LOADERS })
}

/**
 * Writes rows of one slice: batch by batch in transactions of their own where the rows have a key, all of them in the
 * last transaction where they have none. Keys must be distinct.
 */
export function createBatchLoader(
  { stream, partition }: Slice,
  { db, clock, timeZone, runId, loadQueue, requireLease }: RunDeps,
) {
  const isWhole = stream.identity !== undefined
  const underway = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  let filling = createBatch(stream, runId)
  /** Full batches of rows without a key. */
  let whole: Batch[] = []
  /** Whether the last batch held only new rows: then the next is copied, which is slower only for known rows. */
  let areNew = false
  let counts = noCounts

  const write = async (trx: Transaction<Database>, batch: Batch): Promise<Counts> => {
    if (batch.size() === 0) return noCounts
    const finder = { runId, seenAt: new Date(clock.now()), timeZone }
    const conflicts = stream.versions ? await keepConflicts(trx, stream, partition, batch.rows, finder) : 0
    const loaded = areNew ? await batch.copy(trx) : await batch.upsert(trx)
    areNew = loaded.inserted === batch.size()
    if (stream.children) await replaceChildren(trx, stream.children, batch.rows, runId)
    // Conflicting rows of the lower version stay out of the table.
    const isLower = stream.versions !== undefined && stream.versions.own < stream.versions.other.version
    const quarantined = isLower ? conflicts : 0
    return addCounts(noCounts, { ...loaded, unchanged: loaded.unchanged - quarantined, quarantined })
  }
  const commit = async (work: (trx: Transaction<Database>) => Promise<Counts>): Promise<void> => {
    const loaded = await transact(db, async (trx) => {
      await prepareToLoad(trx, timeZone)
      const written = await work(trx)
      await requireLease(trx, stream.name, partition)
      return written
    })
    counts = addCounts(counts, loaded)
  }
  /** Resolves when it is the turn of this batch; where that fails, the next call throws the error. */
  const commitAhead = async (full: Batch): Promise<void> => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const work: Promise<void> = loadQueue
      .add(async () => {
        begin()
        await commit(async (trx) => await write(trx, full))
      })
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => underway.delete(work))
    underway.add(work)
    await begun
  }
  /** Waits for batches that are under way. Throws the error of the first that has failed. */
  const settle = async (): Promise<void> => {
    await Promise.all(underway)
    if (failure) throw failure.error
  }

  return {
    /** Lets the first batch be copied too (COPY): the table has none of its rows yet. */
    expectNew: (): void => {
      areNew = true
    },
    /**
     * Takes rows. Where they have a key, each full batch is committed, after `check`, while more rows are taken. Waits
     * for the turn of a batch, and fails with the error of an earlier one.
     */
    add: async (rows: readonly Row[], check?: () => Promise<void>): Promise<void> => {
      if (failure) throw failure.error
      for (const row of rows) {
        filling.add(row)
        if (!filling.isFull()) continue
        await check?.()
        const full = filling
        filling = createBatch(stream, runId)
        if (isWhole) whole.push(full)
        else await commitAhead(full)
      }
    },
    /** Commits all rows taken so far, so that another walk may bring the same keys. */
    flush: async (): Promise<void> => {
      if (filling.size() > 0) await commitAhead(filling)
      filling = createBatch(stream, runId)
      await settle()
    },
    /** Commits what is left together with `land`, after all other batches. `written`: counts of all batches. */
    finish: async (land: (trx: Transaction<Database>, written: Counts) => Promise<void>): Promise<void> => {
      await settle()
      // Rows held to the end are written at once and take memory: few slices at a time.
      const writeLast = async () =>
        await commit(async (trx) => {
          let sum = noCounts
          for (const each of [...whole, filling]) sum = addCounts(sum, await write(trx, each))
          await land(trx, addCounts(counts, sum))
          return sum
        })
      await (isWhole ? loadQueue.add(writeLast) : writeLast())
      whole = []
      filling = createBatch(stream, runId)
    },
    /** Waits for batches that are under way, however they end. */
    drain: async (): Promise<void> => void (await Promise.all(underway)),
    counts: (): Counts => counts,
  }
}

import type { Transaction } from 'kysely'
import PQueue from 'p-queue'
import type { Row } from '../core/column.ts'
import { addCounts, type Counts, noCounts } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { replaceChildren } from '../store/load/children.ts'
import { type Batch, createBatch, prepareToLoad, transact } from '../store/load/load.ts'
import { quarantineConflicts } from './quarantine-conflicts.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Batches that are written concurrently. Measurements show no gain from more. */
const LOADERS = 2

/** Writes the rows of one slice. */
export type BatchLoader = ReturnType<typeof createBatchLoader>
/** The part of it that the extraction of rows uses. */
export type RowLoader = Pick<BatchLoader, 'add' | 'flush' | 'drain' | 'expectNew'>

/** Limits the batches that a run writes concurrently. */
export function createLoadQueue(): PQueue {
  return new PQueue({ concurrency: LOADERS })
}

/**
 * Runs `write` in a transaction of its own, which commits only under the lease of the slice's partition.
 * @throws lease.lost
 */
export async function commitUnderLease<Result>(
  { stream, partition }: Slice,
  { db, requireLease }: Pick<RunDeps, 'db' | 'requireLease'>,
  write: (trx: Transaction<Database>) => Promise<Result>,
): Promise<Result> {
  return await transact(db, async (trx) => {
    const result = await write(trx)
    await requireLease(trx, stream.name, partition)
    return result
  })
}

/**
 * Writes the rows of one slice: batches of rows with a key are each committed on their own, rows without a key all in
 * the last transaction. Keys must be distinct.
 */
export function createBatchLoader(slice: Slice, deps: RunDeps) {
  const { stream } = slice
  const { timeZone, runId, loadQueue } = deps
  const landsTogether = stream.identity !== undefined
  const { write, expectNew } = createBatchWriter(slice, deps)
  const commits: Promise<void>[] = []
  let failure: { readonly error: unknown } | undefined
  let filling = createBatch(stream, runId)
  /** Full batches of rows without a key. */
  let fullBatches: Batch[] = []
  let counts = noCounts

  const commit = async (work: (trx: Transaction<Database>) => Promise<Counts>): Promise<void> => {
    const loaded = await commitUnderLease(slice, deps, async (trx) => {
      await prepareToLoad(trx, timeZone)
      return await work(trx)
    })
    counts = addCounts(counts, loaded)
  }
  /** Resolves once the commit of this batch begins. If the commit fails, the next call throws the error. */
  const commitAhead = async (full: Batch): Promise<void> => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const committed = loadQueue.add(async () => {
      begin()
      await commit(async (trx) => await write(trx, full))
    })
    commits.push(committed.catch((error: unknown) => void (failure ??= { error })))
    await begun
  }
  /** Waits for the batches in flight. Throws the error of the first one that failed. */
  const awaitCommits = async (): Promise<void> => {
    await Promise.all(commits)
    if (failure) throw failure.error
  }
  return {
    /** Makes the first batch use COPY too, because the table has none of its rows yet. */
    expectNew,
    /**
     * Adds rows. Once a batch is full, runs `check` with its keys, and then commits it in the background if the rows
     * have a key. Waits until that commit begins. Throws the error of an earlier batch.
     */
    add: async (rows: readonly Row[], check?: (keys: readonly string[]) => Promise<void>): Promise<void> => {
      if (failure) throw failure.error
      for (const row of rows) {
        filling.add(row)
        if (!filling.isFull()) continue
        await check?.(filling.keys)
        const full = filling
        filling = createBatch(stream, runId)
        if (landsTogether) fullBatches.push(full)
        else await commitAhead(full)
      }
    },
    /** Commits all rows added so far, so that another walk may bring the same keys. `check` is that of `add`. */
    flush: async (check?: (keys: readonly string[]) => Promise<void>): Promise<void> => {
      await check?.(filling.keys)
      if (filling.keys.length > 0) await commitAhead(filling)
      filling = createBatch(stream, runId)
      await awaitCommits()
    },
    /** Commits the remaining rows together with `land`, after all other batches. `written` counts all batches. */
    finish: async (land: (trx: Transaction<Database>, written: Counts) => Promise<void>): Promise<void> => {
      await awaitCommits()
      // Rows without a key are all written now. They take memory, so only a few slices do this at a time.
      const writeLast = async () =>
        await commit(async (trx) => {
          let sum = noCounts
          for (const each of [...fullBatches, filling]) sum = addCounts(sum, await write(trx, each))
          await land(trx, addCounts(counts, sum))
          return sum
        })
      await (landsTogether ? loadQueue.add(writeLast) : writeLast())
      fullBatches = []
      filling = createBatch(stream, runId)
    },
    /** Waits for the batches in flight and ignores their errors. */
    drain: async (): Promise<void> => void (await Promise.all(commits)),
    counts: (): Counts => counts,
  }
}

/** Creates the function that writes batches, in the caller's transaction. */
function createBatchWriter({ stream, partition }: Slice, { clock, timeZone, runId }: RunDeps) {
  /** Whether the last batch had only new rows. The next one is then copied, which is slower only for existing rows. */
  let expectsNew = false
  return {
    expectNew: (): void => {
      expectsNew = true
    },
    write: async (trx: Transaction<Database>, batch: Batch): Promise<Counts> => {
      if (batch.keys.length === 0) return noCounts
      const finder = { runId, seenAt: new Date(clock.now()), timeZone }
      const conflicts = stream.versions ? await quarantineConflicts(trx, stream, partition, batch.rows, finder) : 0
      const loaded = expectsNew ? await batch.copy(trx) : await batch.upsert(trx)
      expectsNew = loaded.inserted === batch.keys.length
      if (stream.children) await replaceChildren(trx, stream.children, batch.rows, runId)
      // Conflicting rows of the lower version stay out of the table.
      const isLower = stream.versions !== undefined && stream.versions.own < stream.versions.other.version
      const quarantined = isLower ? conflicts : 0
      return addCounts(noCounts, { ...loaded, unchanged: loaded.unchanged - quarantined, quarantined })
    },
  }
}

import type { Transaction } from 'kysely'
import PQueue from 'p-queue'
import type { Row } from '../core/column.ts'
import { addCounts, type Counts, noCounts } from '../core/slice.ts'
import type { Database } from '../store/database.ts'
import { replaceChildren } from '../store/load/children.ts'
import { type Batch, copyBatch, prepareToLoad, transact, upsertBatch } from '../store/load/load.ts'
import { keepConflicts } from './keep-conflicts.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Rows a statement; measured: half as many take 8 % longer, more gain nothing. */
const BATCH = 2000
/** Batches written at once; measured: more gain nothing. */
const LOADERS = 2

/** Writes the rows of one slice. */
export type BatchLoader = ReturnType<typeof createBatchLoader>

/** A batch that is being filled, and its rows where `needsRows`. */
interface Filling {
  readonly batch: Batch
  readonly rows: Row[]
}

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
  /** Whether writing needs the rows themselves. */
  const needsRows = stream.versions !== undefined || stream.children !== undefined
  /** Rows that are not committed yet: all of those that have no key; of others less than a batch, in `filling`. */
  let whole: Row[] = []
  let filling: Filling | undefined
  /** Whether the last batch held only new rows: then the next is copied, which is slower only for known rows. */
  let areNew = false
  let counts = noCounts

  const open = (): Filling => ({ batch: (areNew ? copyBatch : upsertBatch)(stream, runId), rows: [] })
  const fill = ({ batch, rows: looked }: Filling, rows: readonly Row[]): void => {
    batch.add(rows)
    if (needsRows) looked.push(...rows)
  }
  const write = async (trx: Transaction<Database>, { batch, rows }: Filling): Promise<Counts> => {
    const finder = { runId, seenAt: new Date(clock.now()), timeZone }
    const conflicts = stream.versions ? await keepConflicts(trx, stream, partition, rows, finder) : 0
    const loaded = await batch.write(trx)
    areNew = loaded.inserted === batch.size()
    if (stream.children) await replaceChildren(trx, stream.children, rows, runId)
    // Conflicting rows of the lower version stay out of the table.
    const isLower = stream.versions !== undefined && stream.versions.own < stream.versions.other.version
    const quarantined = isLower ? conflicts : 0
    return addCounts(noCounts, { ...loaded, unchanged: loaded.unchanged - quarantined, quarantined })
  }
  const writeWhole = async (trx: Transaction<Database>): Promise<Counts> => {
    let sum = noCounts
    for (const rows of chunksOf(whole)) {
      const filled = open()
      fill(filled, rows)
      sum = addCounts(sum, await write(trx, filled))
    }
    return sum
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
  const commitAhead = async (filled: Filling): Promise<void> => {
    filling = undefined
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const work: Promise<void> = loadQueue
      .add(async () => {
        begin()
        await commit(async (trx) => await write(trx, filled))
      })
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => underway.delete(work))
    underway.add(work)
    await begun
  }
  /** Waits for batches that are under way, however they end. */
  const drain = async (): Promise<void> => {
    await Promise.all(underway)
  }
  const throwFailure = (): void => {
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
      throwFailure()
      if (isWhole) {
        for (const row of rows) whole.push(row)
        return
      }
      for (let at = 0; at < rows.length; ) {
        filling ??= open()
        const end = at + BATCH - filling.batch.size()
        fill(filling, rows.slice(at, end))
        if (end > rows.length) return
        at = end
        await check?.()
        await commitAhead(filling)
      }
    },
    /** Commits all rows taken so far, so that another walk may bring the same keys. */
    flush: async (): Promise<void> => {
      if (filling) await commitAhead(filling)
      await drain()
      throwFailure()
    },
    /** Commits what is left together with `land`, after all other batches. `written`: counts of all batches. */
    finish: async (land: (trx: Transaction<Database>, written: Counts) => Promise<void>): Promise<void> => {
      await drain()
      throwFailure()
      // Rows held to the end are written at once and take memory: few slices at a time.
      const writeLast = async () =>
        await commit(async (trx) => {
          const sum = filling ? await write(trx, filling) : await writeWhole(trx)
          await land(trx, addCounts(counts, sum))
          return sum
        })
      await (isWhole ? loadQueue.add(writeLast) : writeLast())
      filling = undefined
      whole = []
    },
    drain,
    counts: (): Counts => counts,
  }
}

/** Characters that end a batch early, for rows of hundreds of answers. */
const MOST_TEXT = 2_000_000

/** Rows in their order, in batches. */
function* chunksOf(rows: readonly Row[]): Iterable<readonly Row[]> {
  let from = 0
  let text = 0
  for (const [at, row] of rows.entries()) {
    text += textOf(row)
    if (text < MOST_TEXT && at + 1 - from < BATCH && at + 1 < rows.length) continue
    yield rows.slice(from, at + 1)
    from = at + 1
    text = 0
  }
}

/** How many characters a row holds: its size in memory, and in a statement. */
export function textOf(row: Row): number {
  let sum = 0
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string') sum += value.length
  }
  return sum
}

import type { Transaction } from 'kysely'
import type { Row } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { copyRows } from './copy-rows.ts'
import { type LoadCounts, openLoad } from './load.ts'
import { createRowBatch } from './row-batch.ts'
import { createRowLines } from './row-lines.ts'

/** Rows that are written together, in the form in which they will be sent. */
export interface RowBuffer {
  readonly append: (rows: readonly Row[]) => void
  readonly size: () => number
  /** In the caller's transaction, after `prepareToLoad`. The rows' keys must be distinct. */
  readonly write: (trx: Transaction<Database>) => Promise<LoadCounts>
  /** Empties it for the next rows, of whichever slice; what it took is kept. It must not be used any more. */
  readonly giveBack: () => void
}

/** The buffers of a run. */
export interface RowBuffers {
  /**
   * Gives out the empty buffers of one slice. Rows are upserted, and copied while those before them were all new: COPY takes the
   * server half the time. Where the next rows are not new nothing differs but the time.
   */
  readonly open: (into: LoadTable) => () => RowBuffer
}

/** What a buffer keeps its rows in. */
interface Store {
  readonly append: (rows: readonly Row[]) => void
  readonly size: () => number
  readonly write: (trx: Transaction<Database>) => Promise<LoadCounts>
  readonly clear: () => void
}

/** Gives out stores; those that were given back first. */
interface Shelf {
  readonly take: () => Store
  readonly giveBack: (store: Store) => void
}

/**
 * Buffers lie outside of the heap, where the collector of garbage does not notice how much they take: so slices hand them on, and
 * with them the statement that writes them.
 */
export function createRowBuffers(runId: string): RowBuffers {
  const shelves = new Map<LoadTable, { readonly upserting: Shelf; readonly copying: Shelf }>()
  const shelvesOf = (into: LoadTable) => {
    const known = shelves.get(into) ?? {
      upserting: createShelf(upsertingStores(into, runId)),
      copying: createShelf(() => createCopyingStore(into, runId)),
    }
    shelves.set(into, known)
    return known
  }
  return {
    open: (into) => {
      const { upserting, copying } = shelvesOf(into)
      let areNew = false
      return () => {
        const shelf = areNew ? copying : upserting
        const store = shelf.take()
        const { append, size } = store
        return {
          append,
          size,
          write: async (trx) => {
            const counts = await store.write(trx)
            areNew = counts.inserted === size()
            return counts
          },
          giveBack: () => shelf.giveBack(store),
        }
      }
    },
  }
}

function createShelf(create: () => Store): Shelf {
  const spare: Store[] = []
  return {
    take: () => spare.pop() ?? create(),
    giveBack: (store) => {
      store.clear()
      spare.push(store)
    },
  }
}

function upsertingStores(into: LoadTable, runId: string): () => Store {
  const load = openLoad(into)
  return () => {
    const batch = createRowBatch(into)
    return { ...batch, write: async (trx) => await load(trx, batch, runId) }
  }
}

function createCopyingStore(into: LoadTable, runId: string): Store {
  const lines = createRowLines(into, runId)
  return { ...lines, write: async (trx) => await copyRows(trx, into, lines, runId) }
}

import type { Transaction } from 'kysely'
import type { Row } from '../core/column.ts'
import { addCounts, type Counts, noCounts } from '../core/outcome.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { loadRows, prepareToLoad } from '../warehouse/load.ts'
import type { RunDeps } from './slice-work.ts'

/** Rows a statement; measured: more gains nothing. */
const BATCH = 1000

export interface BatchLoader {
  /** Takes rows; commits every full batch. */
  readonly add: (rows: readonly Row[]) => Promise<void>
  /** Commits what is held back, so that another walk may bring the same keys. */
  readonly flush: () => Promise<void>
  /** Commits what is left together with `land`: the slice lands with its last rows, after all its others. */
  readonly finish: (land: (trx: Transaction<Database>) => Promise<void>) => Promise<void>
  /** Of what has been committed. */
  readonly counts: () => Counts
}

/** Writes rows of one slice in batches, each in a transaction of its own. Keys must be distinct within a batch. */
export function createBatchLoader(stream: Stream, { db, timeZone, runId }: RunDeps): BatchLoader {
  let pending: Row[] = []
  let counts = noCounts

  const commit = async (rows: readonly Row[], land?: (trx: Transaction<Database>) => Promise<void>) => {
    const loaded = await db.transaction().execute(async (trx) => {
      await prepareToLoad(trx, timeZone)
      const result = await loadRows(trx, stream, rows, runId)
      await land?.(trx)
      return result
    })
    counts = addCounts(counts, loaded)
  }

  const commitRest = async (land?: (trx: Transaction<Database>) => Promise<void>) => {
    const rest = pending
    pending = []
    if (rest.length > 0 || land) await commit(rest, land)
  }

  return {
    add: async (rows) => {
      pending.push(...rows)
      while (pending.length >= BATCH) {
        const batch = pending.slice(0, BATCH)
        pending = pending.slice(BATCH)
        await commit(batch)
      }
    },
    flush: async () => await commitRest(),
    finish: async (land) => await commitRest(land),
    counts: () => counts,
  }
}

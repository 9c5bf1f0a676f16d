import type { Transaction } from 'kysely'
import type { Row } from '../core/column.ts'
import { addCounts, type Counts, noCounts } from '../core/outcome.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { replaceChildren } from '../warehouse/children.ts'
import { type LoadCounts, loadRows, prepareToLoad } from '../warehouse/load.ts'
import { keepConflicts } from './keep-conflicts.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Rows a statement; measured: more gains nothing. */
const BATCH = 1000

export interface BatchLoader {
  /** Takes rows; commits every full batch of a stream whose rows have a key. */
  readonly add: (rows: readonly Row[]) => Promise<void>
  /** Commits what is held back, so that another walk may bring the same keys. */
  readonly flush: () => Promise<void>
  /** Commits what is left together with `land`: the slice lands with its last rows, after all its others. */
  readonly finish: (land: (trx: Transaction<Database>) => Promise<void>) => Promise<void>
  /** Of what has been committed. */
  readonly counts: () => Counts
}

/**
 * Writes rows of one slice: batch by batch in transactions of their own where the rows have a key, all of them in the last
 * transaction where they have none. Keys must be distinct.
 */
export function createBatchLoader({ stream, partition }: Slice, { db, clock, timeZone, runId }: RunDeps): BatchLoader {
  const isWhole = stream.identity !== undefined
  let pending: Row[] = []
  let counts = noCounts

  const commit = async (rows: readonly Row[], land?: (trx: Transaction<Database>) => Promise<void>) => {
    const loaded = await db.transaction().execute(async (trx) => {
      await prepareToLoad(trx, timeZone)
      let sum = noCounts
      for (let start = 0; start < rows.length; start += BATCH) {
        const batch = rows.slice(start, start + BATCH)
        const finder = { runId, seenAt: new Date(clock.now()), timeZone }
        const conflicts = await keepConflicts(trx, stream, partition, batch, finder)
        const loaded = await loadRows(trx, stream, batch, runId)
        sum = addCounts(sum, yieldsTo(stream) ? withConflicts(loaded, conflicts) : loaded)
        if (stream.children) await replaceChildren(trx, stream.children, batch, runId)
      }
      await land?.(trx)
      return sum
    })
    counts = addCounts(counts, loaded)
  }
  const takePending = (): readonly Row[] => {
    const rows = pending
    pending = []
    return rows
  }

  return {
    add: async (rows) => {
      for (const row of rows) pending.push(row)
      if (isWhole) return
      while (pending.length >= BATCH) {
        const batch = pending.slice(0, BATCH)
        pending = pending.slice(BATCH)
        await commit(batch)
      }
    },
    flush: async () => {
      const rows = takePending()
      if (rows.length > 0) await commit(rows)
    },
    finish: async (land) => await commit(takePending(), land),
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

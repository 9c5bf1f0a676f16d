import type { Transaction } from 'kysely'
import type { Row } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import { copyRows } from './copy-rows.ts'
import { type LoadCounts, openLoad } from './load.ts'
import { createRowBatch, type RowBatch } from './row-batch.ts'
import { createRowLines, type RowLines } from './row-lines.ts'

/** Rows that are written together, in the form in which they will be sent. */
export interface RowBuffer {
  readonly append: (rows: readonly Row[]) => void
  readonly size: () => number
  /** In the caller's transaction, after `prepareToLoad`. The rows' keys must be distinct. */
  readonly write: (trx: Transaction<Database>) => Promise<LoadCounts>
  /** Empties it for the next rows; what it took is kept. */
  readonly giveBack: () => void
}

/**
 * Gives out the empty buffers of one slice. Rows are upserted, and copied while those before them were all new: COPY takes the
 * server half the time. Where the next rows are not new nothing differs but the time.
 */
export function openRowBuffers(into: LoadTable, runId: string): () => RowBuffer {
  const load = openLoad(into)
  const [upserting, copying]: [RowBuffer[], RowBuffer[]] = [[], []]
  let areNew = false

  const openUpserting = (): RowBuffer => {
    const batch = createRowBatch(into)
    return openBuffer(batch, async (trx) => await load(trx, batch, runId), upserting)
  }
  const openCopying = (): RowBuffer => {
    const lines = createRowLines(into, runId)
    return openBuffer(lines, async (trx) => await copyRows(trx, into, lines, runId), copying)
  }
  const openBuffer = (
    { append, size, clear }: RowBatch | RowLines,
    write: RowBuffer['write'],
    spare: RowBuffer[],
  ): RowBuffer => {
    const buffer: RowBuffer = {
      append,
      size,
      write: async (trx) => {
        const counts = await write(trx)
        areNew = counts.inserted === size()
        return counts
      },
      giveBack: () => {
        clear()
        spare.push(buffer)
      },
    }
    return buffer
  }
  return () => (areNew ? (copying.pop() ?? openCopying()) : (upserting.pop() ?? openUpserting()))
}

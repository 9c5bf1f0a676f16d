import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** An item that could not become a row. */
export interface QuarantinedItem {
  /** JSON text. */
  readonly raw: string
  readonly reason: string
  /** Where in the item; empty for the item itself. */
  readonly path: string
}

export interface QuarantineOrigin {
  readonly stream: StreamName
  /** As in the ledger, such as `channel=9`. */
  readonly partition: string
  readonly runId: string
  readonly seenAt: Date
}

/** Rows a statement: far below the limit of 65,535 parameters. */
const BATCH = 1000

/**
 * Keeps items with their reasons. Equal items of one slice are told apart by their ordinal, so that reading again adds
 * none.
 */
export async function quarantineItems(
  db: Kysely<Database>,
  { stream, partition, runId, seenAt }: QuarantineOrigin,
  items: readonly QuarantinedItem[],
): Promise<void> {
  const seen = new Map<string, number>()
  const rows = items.map(({ raw, reason, path }) => {
    const item_hash = createHash('sha256').update(raw).digest('hex')
    const ordinal = (seen.get(item_hash) ?? 0) + 1
    seen.set(item_hash, ordinal)
    return {
      stream,
      partition,
      item_hash,
      ordinal,
      raw,
      reason,
      path,
      run_id: runId,
      first_seen_at: seenAt,
      last_seen_at: seenAt,
    }
  })
  for (let start = 0; start < rows.length; start += BATCH) {
    await db
      .insertInto('livehouse_ops.quarantine')
      .values(rows.slice(start, start + BATCH))
      .onConflict((conflict) => conflict.columns(['stream', 'partition', 'item_hash', 'ordinal']).doNothing())
      .execute()
  }
}

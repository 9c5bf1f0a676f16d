import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

const LEDGER_LOCK = 7_305_515_802

/**
 * Waits until nobody else changes slices that have landed: what one takes out of coverage, another must not bring back. Holds
 * until the end of the transaction.
 */
export async function lockLedger(trx: Kysely<Database>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LEDGER_LOCK}::bigint)`.execute(trx)
}

import { type Kysely, sql } from 'kysely'
import type { BiSettings } from '../bi-settings.ts'
import type { Database } from '../../store/database.ts'

/** Keeps what an operator wants the views to show; a mask or a currency holds at once, as the views ask for them. What is not given stays. */
export async function writeBiSettings(db: Kysely<Database>, { currency, masked, language }: BiSettings): Promise<void> {
  if (language !== undefined) {
    await sql`update livehouse_ops.bi_settings set language = ${language} where language <> ${language}`.execute(db)
  }
  if (currency !== undefined) {
    await sql`update livehouse_ops.bi_settings set currency = ${currency} where currency is distinct from ${currency}`.execute(
      db,
    )
  }
  if (masked !== undefined) {
    await sql`update livehouse_ops.bi_settings set masked = ${masked}::text[] where masked is distinct from ${masked}::text[]`.execute(
      db,
    )
  }
}

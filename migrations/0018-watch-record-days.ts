import { type Kysely, sql } from 'kysely'

/**
 * Finds the watch records of some days without reading all of them. A block range index: it costs the loader next to nothing,
 * and records come in the order of time.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX watch_records_days ON livehouse.watch_records USING brin (entered_at)
    WITH (pages_per_range = 32, autosummarize = on)`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX livehouse.watch_records_days`.execute(db)
}

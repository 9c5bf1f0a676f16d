import { type Kysely, sql } from 'kysely'

/** Weeks in which viewers came are read from the index alone, viewer by viewer, without the records. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX livehouse.watch_records_viewer`.execute(db)
  await sql`CREATE INDEX watch_records_viewer ON livehouse.watch_records (channel_id, user_id, entered_at)`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX livehouse.watch_records_viewer`.execute(db)
  await sql`CREATE INDEX watch_records_viewer ON livehouse.watch_records (channel_id, user_id)`.execute(db)
}

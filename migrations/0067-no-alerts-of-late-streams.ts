import { type Kysely, sql } from 'kysely'

/** Nothing raises, sends or clears these kinds of alerts any more, nor asks who serves a job now. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM livehouse_ops.alerts WHERE facts ->> 'kind' IN ('stale', 'unfinished')`.execute(db)
  await commentOnSeen(db, 'When a livehouse serve last wrote it down, as it does when it starts')
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await commentOnSeen(db, 'When a livehouse serve last said that it serves it; it does so every half minute')
}

async function commentOnSeen(db: Kysely<unknown>, words: string): Promise<void> {
  await sql`COMMENT ON COLUMN livehouse_ops.jobs.seen_at IS ${sql.lit(words)}`.execute(db)
}

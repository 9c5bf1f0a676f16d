import { type Kysely, sql } from 'kysely'

/** What counts as a broadcast: the service does not tell when one ran. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.bi_settings
    ADD COLUMN broadcast_gap_minutes integer NOT NULL DEFAULT 30,
    ADD COLUMN broadcast_min_minutes integer NOT NULL DEFAULT 10`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.bi_settings.broadcast_gap_minutes IS
    'A longer time without live watching ends a broadcast (LIVEHOUSE_BROADCAST_GAP)'`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.bi_settings.broadcast_min_minutes IS
    'What is shorter is no broadcast (LIVEHOUSE_BROADCAST_MIN)'`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.bi_settings DROP COLUMN broadcast_gap_minutes, DROP COLUMN broadcast_min_minutes`.execute(
    db,
  )
}

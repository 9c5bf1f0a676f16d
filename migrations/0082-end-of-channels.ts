import { type Kysely, sql } from 'kysely'

/** The day up to which a channel is read, for the views: it holds nothing back once that is over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse.channels ADD COLUMN read_until date`.execute(db)
  await sql`COMMENT ON COLUMN livehouse.channels.read_until IS
    'Last day that is read of it (LIVEHOUSE_CHANNELS), if any'`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse.channels DROP COLUMN read_until`.execute(db)
}

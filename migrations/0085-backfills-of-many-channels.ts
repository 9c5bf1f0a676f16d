import { type Kysely, sql } from 'kysely'

/** One open backfill of the same arguments, however many channels they name: other indexes than a hash have a longest entry. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX livehouse_ops.backfills_open`.execute(db)
  await sql`ALTER TABLE livehouse_ops.backfills ADD CONSTRAINT backfills_open
    EXCLUDE USING hash (arguments WITH =) WHERE (status = 'open')`.execute(db)
}

/** Those that the other index cannot hold are abandoned: an earlier version would not have begun them. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.backfills DROP CONSTRAINT backfills_open`.execute(db)
  await sql`UPDATE livehouse_ops.backfills SET status = 'abandoned', finished_at = now()
    WHERE status = 'open' AND octet_length(arguments::text) > 2600`.execute(db)
  await sql`CREATE UNIQUE INDEX backfills_open ON livehouse_ops.backfills (arguments) WHERE status = 'open'`.execute(db)
}

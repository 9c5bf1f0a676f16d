import { type Kysely, sql } from 'kysely'

/**
 * The partitions that are held for a run are found, whichever processes hold them. No column of another table has this
 * name: earlier versions take `run_id` beside this table for that of a run.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.leases ADD COLUMN for_run bigint`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.leases.for_run IS
    'The run that a partition is held for; NULL for runs and jobs, and for what 0.1.0 holds'`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.leases DROP COLUMN for_run`.execute(db)
}

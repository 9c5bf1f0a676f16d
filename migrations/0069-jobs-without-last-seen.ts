import { type Kysely, sql } from 'kysely'

/** Nothing reads when a job was last seen: whether it is served is told by its runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.jobs DROP COLUMN seen_at`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.jobs ADD COLUMN seen_at timestamptz NOT NULL DEFAULT now()`.execute(db)
  await sql`ALTER TABLE livehouse_ops.jobs ALTER COLUMN seen_at DROP DEFAULT`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.jobs.seen_at IS
    'When a livehouse serve last said that it serves it; it does so every half minute'`.execute(db)
}

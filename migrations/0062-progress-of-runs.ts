import { type Kysely, sql } from 'kysely'

/** A run says how far it has come where every process sees it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.runs ADD COLUMN progress jsonb`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.runs.progress IS
    'How far it has come, by stream: {rows, parts, endedParts, share}; as of the last seconds before it ended'`.execute(
    db,
  )
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.runs DROP COLUMN progress`.execute(db)
}

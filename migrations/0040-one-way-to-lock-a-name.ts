import { type Kysely, sql } from 'kysely'

/** Calls of the day are counted behind a name in `livehouse_ops.locks`, as other short work is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.call_turn`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE livehouse_ops.call_turn (is_only boolean PRIMARY KEY CHECK (is_only))`.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.call_turn IS
    'At most one row, locked while a call of the day is taken, so that calls are counted one at a time (livehouse_ops.call_budget)'`.execute(
    db,
  )
  await sql`COMMENT ON COLUMN livehouse_ops.call_turn.is_only IS 'Always true'`.execute(db)
}

import { type Kysely, sql } from 'kysely'

/** Nothing raises, sends or clears these kinds any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM livehouse_ops.alerts WHERE facts ->> 'kind' IN ('stale', 'unfinished')`.execute(db)
}

export async function down(): Promise<void> {}

import { type Kysely, sql } from 'kysely'

/** Nothing raises, sends or clears this kind any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM livehouse_ops.alerts WHERE facts ->> 'kind' = 'budget'`.execute(db)
}

export async function down(): Promise<void> {}

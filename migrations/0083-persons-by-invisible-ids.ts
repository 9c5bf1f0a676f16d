import { type Kysely, sql } from 'kysely'

/** Persons by an id with invisible characters are found anew: ids are compared without these. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM livehouse_ops.viewer_persons WHERE person IN (
        SELECT person FROM livehouse_ops.viewer_persons
        WHERE concat(outer_id, assign_id) ~ E'[\\u200b-\\u200f\\u202a-\\u202e\\u2060\\ufeff]'
      ) RETURNING channel_id
    )
    INSERT INTO livehouse_ops.changed_persons (channel_id) SELECT DISTINCT channel_id FROM gone`.execute(db)
}

/** They are found anew in any case, as they are compared then. */
export async function down(): Promise<void> {}

import { type Kysely, sql } from 'kysely'

/** Persons by an id with blanks or invisible characters that are ignored now are found anew, as in 0083. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM livehouse_ops.viewer_persons WHERE person IN (
        SELECT person FROM livehouse_ops.viewer_persons
        WHERE concat(outer_id, assign_id) ~ E'[\\u00ad\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f]'
      ) RETURNING channel_id
    )
    INSERT INTO livehouse_ops.changed_persons (channel_id) SELECT DISTINCT channel_id FROM gone`.execute(db)
}

/** They are found anew in any case, as they are compared then. */
export async function down(): Promise<void> {}

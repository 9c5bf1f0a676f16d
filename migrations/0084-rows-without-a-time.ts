import { type Kysely, sql } from 'kysely'

/**
 * Gifts and signups whose time cannot be read wait in quarantine. Rows of them that version 0.1.0 wrote are marked as
 * removed, as no reading of a range finds them, and their partitions are read again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, time, part] of [
    ['gifts', 'given_at', "'/type=' || gift_type"],
    ['signups', 'signed_up_at', "'/question=' || question_id"],
  ] as const)
    await sql`
      WITH untimed AS (
        UPDATE livehouse.${sql.ref(table)} SET removed_at = now(), changed_at = now()
        WHERE ${sql.ref(time)} IS NULL AND removed_at IS NULL
        RETURNING 'channel=' || channel_id || ${sql.raw(part)} AS partition
      )
      UPDATE livehouse_ops.slices SET settled = NULL
      WHERE stream = ${sql.lit(table)} AND settled IS NOT NULL AND partition IN (SELECT partition FROM untimed)`.execute(
      db,
    )
}

/** An earlier version finds them again where they still come. */
export async function down(): Promise<void> {}

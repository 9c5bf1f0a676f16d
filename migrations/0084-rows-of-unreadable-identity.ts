import { type Kysely, sql } from 'kysely'

/**
 * Gifts and signups whose time, gift or amount cannot be read wait in quarantine. Rows that version 0.1.0 made of them are
 * marked as removed, as no reading finds them any more, and their partitions are read again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, isUnreadable, part] of [
    ['gifts', "(given_at IS NULL OR extra ?| '{gift_id,money}')", "'/type=' || gift_type"],
    ['signups', 'signed_up_at IS NULL', "'/question=' || question_id"],
  ] as const)
    await sql`
      WITH unreadable AS (
        UPDATE livehouse.${sql.ref(table)} SET removed_at = now(), changed_at = now()
        WHERE ${sql.raw(isUnreadable)} AND removed_at IS NULL
        RETURNING 'channel=' || channel_id || ${sql.raw(part)} AS partition
      )
      UPDATE livehouse_ops.slices SET settled = NULL
      WHERE stream = ${sql.lit(table)} AND settled IS NOT NULL
        AND partition IN (SELECT partition FROM unreadable)`.execute(db)
}

/** An earlier version finds them again where they still come. */
export async function down(): Promise<void> {}

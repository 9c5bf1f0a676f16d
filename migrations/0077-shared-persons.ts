import { type Kysely, sql } from 'kysely'

/**
 * Most persons are one viewer, of whom nothing is added up: only the others are kept. Who puts persons together keeps
 * them, too, and notes which channels change by it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.viewer_persons ADD COLUMN is_shared boolean NOT NULL DEFAULT true`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.viewer_persons.is_shared IS
    'Whether another viewer has one of the ids; true also where that was not looked at'`.execute(db)
  for (const note of ['changed_persons', 'changed_channels'])
    for (const event of ['insert', 'update', 'delete', 'truncate'])
      await sql`DROP TRIGGER IF EXISTS ${sql.id(`${note}_${event}`)} ON livehouse_ops.viewer_persons`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.viewer_persons DROP COLUMN is_shared`.execute(db)
}

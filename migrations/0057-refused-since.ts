import { type Kysely, sql } from 'kysely'

/** What is read over days keeps since when it is refused: neither a pause nor one refusal is taken for days of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.open_slices ADD COLUMN refused_since timestamptz, ADD COLUMN refused_page integer`.execute(
    db,
  )
  await sql`COMMENT ON COLUMN livehouse_ops.open_slices.refused_since IS
    'When the service first refused a page that has not come since; NULL where it has not'`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.open_slices.refused_page IS
    'Number of that page; a half of a slice keeps it until it has come as far'`.execute(db)
  await comment(db, 'Pages whose rows are committed; 0 of one that was refused before its first')
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.open_slices DROP COLUMN refused_since, DROP COLUMN refused_page`.execute(db)
  await comment(db, 'Pages whose rows are committed; 0 of a half of one that was refused for days')
}

async function comment(db: Kysely<unknown>, words: string): Promise<void> {
  await sql`COMMENT ON COLUMN livehouse_ops.open_slices.pages_read IS ${sql.lit(words)}`.execute(db)
}

import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'

/** What a database keeps of its own: not emptied. */
const KEPT = [
  'livehouse_ops.migrations',
  'livehouse_ops.migration_lock',
  'livehouse_ops.source',
  // Whoever holds one would be waited for.
  'livehouse_ops.locks',
  // Of the views, one row from its migration on.
  'livehouse_ops.bi_settings',
]

/** Empties every table, so that one migrated database serves many cases. Cheaper than TRUNCATE where they are small. */
export async function emptyTables(db: Kysely<Database>): Promise<void> {
  await sql`do $$
    declare name text;
    begin
      for name in select format('%I.%I', schemaname, tablename) from pg_tables
        where schemaname in ('livehouse', 'livehouse_ops')
          and not schemaname || '.' || tablename = any(${sql.raw(`'{${KEPT.join(',')}}'`)}::text[])
        order by tablename = 'runs', tablename = 'slices' desc, tablename = 'signup_answers' desc
      loop
        execute 'delete from ' || name;
      end loop;
    end $$`.execute(db)
}

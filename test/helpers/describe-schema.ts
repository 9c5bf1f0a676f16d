import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'

/** Describes the relations, columns, constraints, indexes and comments of our schemas as lines that can be compared. */
export async function describeSchema(db: Kysely<Database>): Promise<readonly string[]> {
  const { rows } = await sql<{ line: string }>`
    with ours as (
      select c.oid, n.nspname, c.relname, c.relkind
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname like 'livehouse%'
    )
    select concat_ws(' ', 'relation', relkind, nspname, relname, obj_description(oid, 'pg_class')) as line from ours
    union all
    select concat_ws(' ', 'column', nspname, relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
      pg_get_expr(d.adbin, d.adrelid), col_description(o.oid, attnum))
    from ours o join pg_attribute a on a.attrelid = o.oid and attnum > 0 and not attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where relkind in ('r', 'v', 'm', 'p')
    union all
    select concat_ws(' ', 'constraint', relname, conname, pg_get_constraintdef(k.oid))
    from ours o join pg_constraint k on k.conrelid = o.oid
    union all
    select concat_ws(' ', 'index', pg_get_indexdef(oid)) from ours where relkind = 'i'
    union all
    select concat_ws(' ', 'schema', nspname, obj_description(oid, 'pg_namespace'))
    from pg_namespace where nspname like 'livehouse%'
    order by line`.execute(db)
  return rows.map(({ line }) => line)
}

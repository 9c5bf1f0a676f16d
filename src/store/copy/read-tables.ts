import { MIGRATION_LOCK_TABLE, MIGRATION_TABLE } from '../migration-tables.ts'
import type { Session } from './session.ts'

/** A table with what a copy of it needs; names are quoted as SQL wants them. */
export interface CopyTable {
  /** `livehouse.visitors` */
  readonly name: string
  /** Those that hold values of their own, in their order. */
  readonly columns: readonly string[]
  /** Names of the tables that its foreign keys point to. */
  readonly references: readonly string[]
}

/** The schemas are livehouse's own; what others have made there is not known to the migrations and not copied. */
export const COPIED_SCHEMAS = ['livehouse', 'livehouse_ops', 'livehouse_bi'] as const

/**
 * The tables that the migrations have made, each after those that it refers to. First comes the one with the service's zone,
 * whose days the database counts when slices arrive.
 */
export async function readTables(session: Session): Promise<readonly CopyTable[]> {
  const tables = await session.query<CopyTable & Record<string, unknown>>(
    `select format('%I.%I', n.nspname, c.relname) as name,
       (select array_agg(format('%I', a.attname) order by a.attnum) from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
       array(select distinct format('%I.%I', fn.nspname, f.relname) from pg_constraint k
         join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
         where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as references
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) and c.relkind = 'r' and c.relname <> all($2)
     order by c.relname <> 'source', n.nspname, c.relname`,
    [COPIED_SCHEMAS, [MIGRATION_TABLE, MIGRATION_LOCK_TABLE]],
  )
  return orderByReference(tables)
}

/** Each table after those that it refers to. References in a circle stay in the order given. */
export function orderByReference(tables: readonly CopyTable[]): readonly CopyTable[] {
  const ordered: CopyTable[] = []
  const seen = new Set<string>()
  const visit = (table: CopyTable): void => {
    if (seen.has(table.name)) return
    seen.add(table.name)
    for (const other of tables) if (table.references.includes(other.name)) visit(other)
    ordered.push(table)
  }
  for (const table of tables) visit(table)
  return ordered
}

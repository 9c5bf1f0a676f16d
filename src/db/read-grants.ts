import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import { readRights } from './read-rights.ts'

/** What decides which rights a DBA has to grant. */
export interface Grants {
  readonly database: string
  readonly user: string
  /** Whose the schema `livehouse` is; null where it is not there. */
  readonly owner: string | null
  readonly canMigrate: boolean
  readonly hasClosedTables: boolean
}

/** Asks the catalog; changes nothing. */
export async function readGrants(db: Kysely<Database>): Promise<Grants> {
  const { user, canMigrate, closedTables } = await readRights(db)
  const { rows } = await sql<{ database: string; owner: string | null }>`
    select current_database() as database,
      (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'livehouse') as owner`.execute(db)
  const { database, owner } = rows[0] ?? { database: '', owner: null }
  return { database, user, owner, canMigrate, hasClosedTables: closedTables.length > 0 }
}

/** The SQL, for whoever may run it, that gives the user what livehouse needs; only remarks where nothing is missing. */
export function grantSql({ database, user, owner, canMigrate, hasClosedTables }: Grants): readonly string[] {
  const who = quote(user)
  const head = `-- Rights of ${who} on database ${quote(database)}`
  if (canMigrate && !hasClosedTables) return [`${head}: nothing is missing.`]
  if (owner === null) {
    return [
      `${head}, so that it makes the schemas itself. Where it must not, run the`,
      '-- output of `livehouse migrate sql` in its place, and then that of `livehouse doctor --grants`.',
      `GRANT CREATE ON DATABASE ${quote(database)} TO ${who};`,
    ]
  }
  const schemas = 'livehouse, livehouse_ops'
  return [
    `${head}: run this there as ${quote(owner)} or a superuser. Migrations stay with ${quote(owner)}`,
    '-- (`livehouse migrate sql` prints them).',
    `GRANT USAGE ON SCHEMA ${schemas} TO ${who};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schemas} TO ${who};`,
    `ALTER DEFAULT PRIVILEGES FOR ROLE ${quote(owner)} IN SCHEMA ${schemas}`,
    `  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${who};`,
  ]
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

import { type Kysely, sql } from 'kysely'
import { createRoles, roles, SCHEMA } from '../view-statements.ts'
import type { Database } from '../../store/database.ts'
import { readRights } from '../../store/inspect-server.ts'
import { FORMS_SCHEMA } from '../form-view.ts'
import { biViews } from '../registry.ts'

/** What decides which rights a DBA has to grant. */
export interface Grants {
  readonly database: string
  readonly user: string
  /** Whose the schema `livehouse` is; null where it is not there. */
  readonly owner: string | null
  readonly canMigrate: boolean
  readonly hasClosedTables: boolean
  /** What it lacks of the analysts' schemas and roles. */
  readonly bi: BiRights
}

/** Asks the catalog; changes nothing. */
export async function readGrants(db: Kysely<Database>): Promise<Grants> {
  const { user, canMigrate, closedTables } = await readRights(db)
  const { rows } = await sql<{ database: string; owner: string | null }>`
    select current_database() as database,
      (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'livehouse') as owner`.execute(db)
  const { database, owner } = rows[0] ?? { database: '', owner: null }
  return { database, user, owner, canMigrate, hasClosedTables: closedTables.length > 0, bi: await readBiRights(db) }
}

/** The SQL, for whoever may run it, that gives the user what livehouse needs; only remarks where nothing is missing. */
export function grantSql(grants: Grants): readonly string[] {
  const { database, user, canMigrate, hasClosedTables } = grants
  const head = `-- Rights of ${quote(user)} on database ${quote(database)}`
  const forRows = canMigrate && !hasClosedTables ? [] : rowSql(grants, head)
  const forAnalysts = analystSql(grants)
  if (forRows.length + forAnalysts.length === 0) return [`${head}: nothing is missing.`]
  const introduction =
    forRows.length > 0
      ? '-- What analysts read livehouse_bi by:'
      : `${head}, for the views of analysts: run this there as a superuser.`
  return [...forRows, ...(forAnalysts.length > 0 ? [introduction, ...forAnalysts] : [])]
}

function rowSql({ database, user, owner }: Grants, head: string): readonly string[] {
  const who = quote(user)
  if (owner === null) {
    return [
      `${head}, so that it makes the schemas itself. Where it must not, run the`,
      '-- output of `livehouse migrate sql` in its place, and then that of `livehouse doctor --grants`.',
      `GRANT CREATE ON DATABASE ${quote(database)} TO ${who};`,
    ]
  }
  const schemas = 'livehouse, livehouse_ops'
  return [
    `${head}: run this there as ${quote(owner)} or a superuser. Migrations and the`,
    `-- views of livehouse_bi stay with ${quote(owner)} (\`livehouse migrate sql\` prints them).`,
    `GRANT USAGE ON SCHEMA ${schemas} TO ${who};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schemas} TO ${who};`,
    `ALTER DEFAULT PRIVILEGES FOR ROLE ${quote(owner)} IN SCHEMA ${schemas}`,
    `  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${who};`,
  ]
}

/** Views belong to whom the tables belong to: only that user needs their schemas. Roles are the server's. */
function analystSql({ user, owner, canMigrate, bi }: Grants): readonly string[] {
  const who = quote(user)
  const schemas = [
    ...bi.missingSchemas.map((schema) => `CREATE SCHEMA ${schema} AUTHORIZATION ${who};`),
    ...bi.foreignSchemas.map((schema) => `ALTER SCHEMA ${schema} OWNER TO ${who};`),
    ...bi.foreignViews.map((view) => `ALTER VIEW ${view} OWNER TO ${who};`),
  ]
  return [
    ...(canMigrate && owner !== null ? schemas : []),
    ...(bi.missingRoles.length > 0 ? createRoles('en').map((statement) => `${statement};`) : []),
  ]
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** What keeps the user of a connection from making the analysts' schemas, views and roles. Names as SQL writes them. */
interface BiRights {
  /** Schemas that are not there, and that this user may not make. */
  readonly missingSchemas: readonly string[]
  /** Schemas that are somebody else's: this user may neither describe them nor grant their use. */
  readonly foreignSchemas: readonly string[]
  /** Views of livehouse that are somebody else's. */
  readonly foreignViews: readonly string[]
  /** Roles that are not there, and that this user may not make. */
  readonly missingRoles: readonly string[]
}

/** Asks the catalog; changes nothing. */
async function readBiRights(db: Kysely<Database>): Promise<BiRights> {
  const { rows: schemas } = await sql<{ name: string; isThere: boolean; isOpen: boolean }>`
    select wanted.name, n.oid is not null as "isThere",
      coalesce(pg_has_role(n.nspowner, 'usage'), has_database_privilege(current_database(), 'create')) as "isOpen"
    from unnest(${[SCHEMA, FORMS_SCHEMA]}::text[]) wanted (name) left join pg_namespace n on n.nspname = wanted.name`.execute(
    db,
  )
  const { rows: views } = await sql<{ name: string }>`
    select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'v' and not pg_has_role(c.relowner, 'usage') and (n.nspname = ${FORMS_SCHEMA}
      or n.nspname = ${SCHEMA} and c.relname = any (${biViews.map(({ name }) => name)}::text[])) order by 1`.execute(db)
  const { rows: absent } = await sql<{ name: string }>`
    select wanted.name from unnest(${Object.keys(roles)}::text[]) wanted (name), pg_roles self
    where to_regrole(wanted.name) is null and self.rolname = current_user and not (self.rolsuper or self.rolcreaterole)`.execute(
    db,
  )
  const closed = schemas.filter(({ isOpen }) => !isOpen)
  return {
    missingSchemas: closed.filter(({ isThere }) => !isThere).map(({ name }) => name),
    foreignSchemas: closed.filter(({ isThere }) => isThere).map(({ name }) => name),
    foreignViews: views.map(({ name }) => name),
    missingRoles: absent.map(({ name }) => name),
  }
}

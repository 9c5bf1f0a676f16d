import { type Kysely, sql } from 'kysely'
import { FORMS_SCHEMA } from '../form-view.ts'
import { biViews } from '../registry.ts'
import { roles, SCHEMA } from '../view-statements.ts'
import type { Database } from '../../store/database.ts'

/** What keeps the user of a connection from making the analysts' schemas, views and roles. Names as SQL writes them. */
export interface BiRights {
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
export async function readBiRights(db: Kysely<Database>): Promise<BiRights> {
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

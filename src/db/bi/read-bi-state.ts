import assert from 'node:assert/strict'
import { type Kysely, sql } from 'kysely'
import { type Language, roles, SCHEMA } from '../../bi/view-statements.ts'
import type { Database } from '../database.ts'

/** The columns of a view as the database has them, `name type`, in order. */
export type ColumnsOfViews = ReadonlyMap<string, readonly string[]>

/** What the database has of `livehouse_bi`, and what its user may do about it. */
export interface BiState {
  /** Of the views as they were last made; null before that. */
  readonly fingerprint: string | null
  readonly language: Language
  /** The service's zone, as far as a run has claimed the database. */
  readonly timeZone: string
  /** The zone that the views and indexes were made for; null before that. */
  readonly publishedZone: string | null
  /** Those that livehouse has made and that are still there. */
  readonly views: ColumnsOfViews
  readonly hasSchema: boolean
  /** May make the schema, or what is in it. */
  readonly mayPublish: boolean
  readonly mayCreateRoles: boolean
  readonly roles: readonly { readonly name: string; readonly isGranted: boolean }[]
}

const DEFAULT_ZONE = 'Asia/Shanghai'

/** Asks the catalog; changes nothing. */
export async function readBiState(db: Kysely<Database>): Promise<BiState> {
  const { rows: settings } = await sql<SettingsRow>`
    select b.fingerprint, b.language, b.time_zone, b.views, (select s.time_zone from livehouse_ops.source s) as source_zone,
      n.oid is not null as has_schema,
      case when n.oid is null then has_database_privilege(current_database(), 'create') else has_schema_privilege(n.oid, 'create') end
        and not exists (select from pg_class c where (c.relnamespace = n.oid and c.relname = any (b.views)
          or c.oid = 'livehouse.watch_records'::regclass) and not pg_has_role(c.relowner, 'usage')) as may_publish,
      (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) as may_create_roles
    from livehouse_ops.bi_settings b left join pg_namespace n on n.nspname = ${SCHEMA}`.execute(db)
  const [row] = settings
  assert(row !== undefined, 'livehouse_ops.bi_settings has its row')
  const { rows: columns } = await sql<{ view: string; columns: readonly string[] }>`
    select c.relname::text as view, array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = ${SCHEMA}
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind = 'v' and c.relname = any (${row.views}::text[]) group by c.relname`.execute(db)
  const { rows: present } = await sql<{ name: string; isGranted: boolean }>`
    select r.rolname::text as name, coalesce(has_schema_privilege(r.oid, n.oid, 'usage'), false) and not exists (
        select from pg_class c where c.relnamespace = n.oid and c.relname = any (${row.views}::text[]) and not has_table_privilege(r.oid, c.oid, 'select')
      ) as "isGranted"
    from pg_roles r left join pg_namespace n on n.nspname = ${SCHEMA}
    where r.rolname = any (${Object.keys(roles)}::text[]) order by r.rolname`.execute(db)
  return {
    fingerprint: row.fingerprint,
    language: row.language,
    timeZone: row.source_zone ?? DEFAULT_ZONE,
    publishedZone: row.time_zone,
    views: new Map(columns.map(({ view, columns: ofView }) => [view, ofView])),
    hasSchema: row.has_schema,
    mayPublish: row.may_publish,
    mayCreateRoles: row.may_create_roles,
    roles: present,
  }
}

interface SettingsRow {
  readonly fingerprint: string | null
  readonly language: Language
  readonly time_zone: string | null
  readonly views: readonly string[]
  readonly source_zone: string | null
  readonly has_schema: boolean
  readonly may_publish: boolean
  readonly may_create_roles: boolean
}

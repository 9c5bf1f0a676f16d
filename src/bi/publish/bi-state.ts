import assert from 'node:assert/strict'
import { type Kysely, sql } from 'kysely'
import { biIndexes } from '../views/indexes.ts'
import { type Language, roles, SCHEMA } from '../view-statements.ts'
import type { Database } from '../../store/database.ts'
import type { BiSettings } from '../bi-settings.ts'

/** The columns of a view as the database has them, `name type`, in order. */
export type ColumnsOfViews = ReadonlyMap<string, readonly string[]>

/** What the database has of `livehouse_bi`, and what its user may do about it. */
export interface BiState {
  /** Of the views as they were last made; null before that. */
  readonly fingerprint: string | null
  readonly language: Language
  /** The service's zone, as far as a run has claimed the database. */
  readonly timeZone: string
  /** Those that livehouse has made on days, and the definition that each was made by. */
  readonly indexes: ReadonlyMap<string, string | null>
  /** Those that livehouse has made and that are still there. */
  readonly views: ColumnsOfViews
  readonly hasSchema: boolean
  readonly mayCreateRoles: boolean
  readonly roles: readonly { readonly name: string; readonly isGranted: boolean }[]
}

const DEFAULT_ZONE = 'Asia/Shanghai'

/** Asks the catalog; changes nothing. */
export async function readBiState(db: Kysely<Database>): Promise<BiState> {
  const { rows: settings } = await sql<SettingsRow>`
    select b.fingerprint, b.language, b.views, (select s.time_zone from livehouse_ops.source s) as source_zone,
      n.oid is not null as has_schema,
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
  const { rows: indexes } = await sql<{ name: string; definition: string | null }>`
    select c.relname::text as name, obj_description(c.oid, 'pg_class') as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'livehouse'
    where c.relkind = 'i' and c.relname = any (${[...biIndexes(DEFAULT_ZONE).keys()]}::text[])`.execute(db)
  return {
    fingerprint: row.fingerprint,
    language: row.language,
    timeZone: row.source_zone ?? DEFAULT_ZONE,
    indexes: new Map(indexes.map(({ name, definition }) => [name, definition])),
    views: new Map(columns.map(({ view, columns: ofView }) => [view, ofView])),
    hasSchema: row.has_schema,
    mayCreateRoles: row.may_create_roles,
    roles: present,
  }
}

interface SettingsRow {
  readonly fingerprint: string | null
  readonly language: Language
  readonly views: readonly string[]
  readonly source_zone: string | null
  readonly has_schema: boolean
  readonly may_create_roles: boolean
}

/** Keeps what an operator wants the views to show; a mask or a currency holds at once, as the views ask for them. What is not given stays. */
export async function writeBiSettings(db: Kysely<Database>, { currency, masked, language }: BiSettings): Promise<void> {
  if (language !== undefined) {
    await sql`update livehouse_ops.bi_settings set language = ${language} where language <> ${language}`.execute(db)
  }
  if (currency !== undefined) {
    await sql`update livehouse_ops.bi_settings set currency = ${currency} where currency is distinct from ${currency}`.execute(
      db,
    )
  }
  if (masked !== undefined) {
    await sql`update livehouse_ops.bi_settings set masked = ${masked}::text[] where masked is distinct from ${masked}::text[]`.execute(
      db,
    )
  }
}

import assert from 'node:assert/strict'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../../store/database.ts'
import type { BiSettings } from '../bi-settings.ts'
import { biViews } from '../registry.ts'
import { type Language, roles, SCHEMA } from '../view-statements.ts'

/** What the database has of `livehouse_bi`, and what its user may do about it. */
export interface BiState {
  /** Of the views as they were last made; null before that. */
  readonly fingerprint: string | null
  readonly language: Language
  /** The service's zone, as far as a run has claimed the database. */
  readonly timeZone: string
  /** Names of the views that livehouse has made; some may be gone. */
  readonly views: readonly string[]
  /** Whether every declared view is there, and granted to each role that is there. */
  readonly isWhole: boolean
  readonly mayCreateRoles: boolean
  /** Names of those that are there. */
  readonly roles: readonly string[]
}

const DEFAULT_ZONE = 'Asia/Shanghai'

/** Asks the catalog; changes nothing. */
export async function readBiState(db: Kysely<Database>): Promise<BiState> {
  const names = biViews.map(({ name }) => name)
  const { rows } = await sql<BiState>`
    with present as (select oid, rolname::text as name from pg_roles where rolname = any (${Object.keys(roles)}::text[])),
      made as (select oid from pg_class where relnamespace = to_regnamespace(${SCHEMA}) and relkind = 'v' and relname = any (${names}::text[]))
    select b.fingerprint, b.language, b.views, coalesce((select s.time_zone from livehouse_ops.source s), ${DEFAULT_ZONE}) as "timeZone",
      (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) as "mayCreateRoles",
      array(select name from present order by name) as roles,
      (select count(*) from made) = ${names.length} and not exists (
        select from present p where not has_schema_privilege(p.oid, to_regnamespace(${SCHEMA}), 'usage')
          or exists (select from made m where not has_table_privilege(p.oid, m.oid, 'select'))
      ) as "isWhole"
    from livehouse_ops.bi_settings b`.execute(db)
  const [state] = rows
  assert(state !== undefined, 'livehouse_ops.bi_settings has its row')
  return state
}

/** Keeps what an operator wants the views to show; a mask or a currency holds at once, as the views ask for them. What is not given stays. */
export async function writeBiSettings(db: Kysely<Database>, settings: BiSettings): Promise<void> {
  const { currency = null, masked = null, language = null } = settings
  await sql`
    update livehouse_ops.bi_settings b set currency = n.currency, masked = n.masked, language = n.language
    from (select coalesce(${currency}::text, currency) as currency, coalesce(${masked}::text[], masked) as masked,
      coalesce(${language}::text, language) as language from livehouse_ops.bi_settings) n
    where (b.currency, b.masked, b.language) is distinct from (n.currency, n.masked, n.language)`.execute(db)
}

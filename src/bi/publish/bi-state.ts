import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Language } from '../../core/column.ts'
import type { Db } from '../../store/database.ts'
import { transact } from '../../store/load/load.ts'
import { lockName } from '../../store/lock-name.ts'
import type { BiSettings } from '../bi-settings.ts'
import { biViews } from '../registry.ts'
import { roles, SCHEMA } from '../view-statements.ts'
import { FIGURES_LOCK } from '../views/change-triggers.ts'

/** The state of `livehouse_bi` in the database, and what the connected user may do there. */
export interface BiState {
  /** Fingerprint of the last publication; null if nothing is published. */
  readonly fingerprint: string | null
  readonly language: Language
  /** The zone of the recorded source; else the requested one, that of the published views, or a default. */
  readonly timeZone: string
  /** Names of the published views; some may have been dropped since. */
  readonly views: readonly string[]
  /** Whether every declared view exists, and each existing role may read it. */
  readonly isWhole: boolean
  readonly mayCreateRoles: boolean
  /** Names of the roles that exist. */
  readonly roles: readonly string[]
}

/** Hashes statements, so that a change of any of them shows. */
export function fingerprintOf(statements: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(statements)).digest('hex')
}

/** Reads the catalog and the settings. @param timeZone the zone of the service, used until a source is recorded */
export async function readBiState(db: Db, timeZone?: string): Promise<BiState> {
  const names = biViews.map(({ name }) => name)
  const { rows } = await sql<BiState>`
    with present as (select oid, rolname::text as name from pg_roles
      where rolname = any (${Object.keys(roles)}::text[])),
      made as (select oid from pg_class where relnamespace = to_regnamespace(${SCHEMA}) and relkind = 'v'
        and relname = any (${names}::text[]))
    select b.fingerprint, b.language, b.views, coalesce((select s.time_zone from livehouse_ops.source s),
      ${timeZone ?? null}, b.time_zone, 'Asia/Shanghai') as "timeZone",
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

/**
 * Stores an operator's settings of the views; one that is not given stays as it is. Masks, currency and the limits of
 * broadcasts take effect at once, as the views look them up.
 */
export async function writeBiSettings(db: Db, settings: BiSettings): Promise<void> {
  const columns = {
    currency: settings.currency,
    masked: settings.masked,
    language: settings.language,
    ignored_ids: settings.ignoredIds,
    broadcast_gap_minutes: settings.broadcastGapMinutes,
    broadcast_min_minutes: settings.broadcastMinMinutes,
  }
  const given = Object.entries(columns).filter(([, value]) => value !== undefined)
  if (given.length === 0) return
  const assignments = given.map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  const conditions = given.map(([name, value]) => sql`${sql.ref(name)} is distinct from ${value}`)
  const changedRow = sql`from livehouse_ops.bi_settings where ${sql.join(conditions, sql` or `)}`
  if ((await sql`select ${changedRow}`.execute(db)).rows.length === 0) return
  await transact(db, async (trx) => {
    // Other ignored ids make stored persons stale. The lock comes first, as in a refresh, to prevent deadlocks.
    await lockName(trx, FIGURES_LOCK)
    await sql`update livehouse_ops.bi_settings set ${sql.join(assignments)}`.execute(trx)
  })
}

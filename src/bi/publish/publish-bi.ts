import { type Kysely, sql } from 'kysely'
import type { BiSettings } from '../bi-settings.ts'
import { roles, SCHEMA, type Language } from '../view-statements.ts'
import { hasCode } from '../../core/errors.ts'
import type { Database } from '../../store/database.ts'
import { withMigrationLock } from '../../store/migration-lock.ts'
import { dependentsIn } from './withdraw-bi.ts'
import { planPublication, emptyBiState } from './plan-publication.ts'
import { type BiState, readBiState, writeBiSettings } from './bi-state.ts'

const MISSING_RIGHT = '42501'
const LOCK_NOT_AVAILABLE = '55P03'
const DBA = 'Let a DBA run the output of `livehouse migrate sql`'

/** What came of it; a notice says what is left for a person, and how. `blocked`: the views stay as they are, or are not there. */
export interface BiOutcome {
  readonly status: 'unchanged' | 'published' | 'blocked'
  readonly notice?: string
}

/**
 * Makes `livehouse_bi` what this livehouse declares: schema, views, comments, roles and grants, all or nothing, after the
 * migrations. Nothing is done where it is so already. Roles that this user may not make are left to a DBA.
 */
export async function publishBi(
  db: Kysely<Database>,
  { signal, settings }: { readonly signal?: AbortSignal; readonly settings?: BiSettings | undefined } = {},
): Promise<BiOutcome> {
  try {
    if (settings !== undefined) await writeBiSettings(db, settings)
    if (planPublication(await readBiState(db)).length === 0) return { status: 'unchanged' }
    return await withMigrationLock(db, signal, async (transaction) => {
      // Another may have held the lock until now.
      const statements = planPublication(await readBiState(transaction))
      if (statements.length > 0) await sql.raw(statements.join(';\n')).execute(transaction)
      if (statements.length === 0) return { status: 'unchanged' }
      return missingRoles(await readBiState(transaction))
    })
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    return blocked(reason)
  }
}

function missingRoles({ roles: present }: BiState): BiOutcome {
  const missing = Object.keys(roles).filter((role) => !present.some(({ name }) => name === role))
  if (missing.length === 0) return { status: 'published' }
  const names = missing.join(' and ')
  return {
    status: 'published',
    notice: `Nobody but this user can read ${SCHEMA} yet: it may not create the roles ${names}. ${DBA}.`,
  }
}

function blocked(reason: string): BiOutcome {
  return { status: 'blocked', notice: `The views of ${SCHEMA} are not up to date: ${reason}.` }
}

/** Why publishing is not possible, and what to do; undefined for anything else that went wrong. */
function reasonOf(error: unknown): string | undefined {
  if (hasCode(error, 'db.refused') && error.details.sqlState === MISSING_RIGHT) {
    return `${error.details.reason}. ${DBA}`
  }
  if (hasCode(error, 'db.refused') && error.details.sqlState === LOCK_NOT_AVAILABLE) return error.details.reason
  const dependents = dependentsIn(error)
  if (dependents === undefined) return undefined
  return `${dependents} stands on them. Keep its definition (pg_get_viewdef), drop it, run \`livehouse migrate up\`, create it again`
}

/**
 * What a DBA runs after the pending migrations: views, grants, and the roles that the user of livehouse may not make.
 * @param timeZone the service's zone, for a database that no run has claimed; @param db undefined for an empty one
 * @param language of the comments; that of the database where it is not given
 */
export async function planForDba(
  db: Kysely<Database> | undefined,
  timeZone: string,
  language?: Language,
): Promise<readonly string[]> {
  if (db === undefined) return planPublication(emptyBiState(timeZone, language))
  const { rows } = await sql<{ hasSource: boolean; hasSettings: boolean }>`
    select to_regclass('livehouse_ops.source') is not null as "hasSource",
      to_regclass('livehouse_ops.bi_settings') is not null as "hasSettings"`.execute(db)
  if (rows[0]?.hasSettings === true) {
    return planPublication({ ...(await readBiState(db)), mayCreateRoles: true, ...(language && { language }) })
  }
  const source =
    rows[0]?.hasSource === true
      ? await db.selectFrom('livehouse_ops.source').select('time_zone').executeTakeFirst()
      : undefined
  return planPublication(emptyBiState(source?.time_zone ?? timeZone, language))
}

import { sql } from 'kysely'
import type { Language } from '../../core/column.ts'
import type { Db } from '../../store/database.ts'
import type { BiSettings } from '../bi-settings.ts'
import { roles, SCHEMA } from '../view-statements.ts'
import { applyPlan } from './apply-plan.ts'
import { readBiState, writeBiSettings } from './bi-state.ts'
import { groupPersons } from './group-persons.ts'
import { planPublication } from './plan-publication.ts'

const DBA = 'Let a DBA run the output of `livehouse migrate sql`'

/**
 * The outcome; `notice` says what is left for a person to do, and how. `blocked`: nothing has changed, old views or
 * none.
 */
export interface BiOutcome {
  readonly status: 'unchanged' | 'published' | 'blocked'
  readonly notice?: string
}

interface PublishRequest {
  readonly signal?: AbortSignal
  readonly settings?: BiSettings | undefined
  /** The service's, for a database whose source is not known yet. */
  readonly timeZone?: string
}

/**
 * Makes `livehouse_bi` what this livehouse declares: schema, views, comments, roles and grants, all or nothing, after
 * the migrations. Does nothing where all is so already. Roles that this user may not create are left to a DBA.
 */
export async function publishBi(db: Db, { signal, settings, timeZone }: PublishRequest = {}): Promise<BiOutcome> {
  if (settings !== undefined) await writeBiSettings(db, settings)
  const outcome = await applyPlan(db, signal, async (each) => await planBi(each, timeZone), DBA)
  if (outcome.status === 'unchanged') return outcome
  if (outcome.status === 'blocked') {
    const meanwhile = 'Until then persons and kept figures are not updated'
    return { status: 'blocked', notice: `The views of ${SCHEMA} are not up to date: ${outcome.reason}. ${meanwhile}.` }
  }
  // While the views were those of an older version, no run grouped persons.
  await groupPersons(db, signal)
  const { roles: present } = await readBiState(db)
  const missing = Object.keys(roles).filter((role) => !present.includes(role))
  if (missing.length === 0) return outcome
  const notice = `Only this user can read ${SCHEMA}: it may not create the roles ${missing.join(' and ')}. ${DBA}.`
  return { status: 'published', notice }
}

/** What publishing would execute: nothing where the views are up to date. Reads the catalog; changes nothing. */
export async function planBi(db: Db, timeZone?: string): Promise<readonly string[]> {
  return planPublication(await readBiState(db, timeZone))
}

/**
 * What a DBA runs after the pending migrations: views, grants, and the roles that livehouse's user may not create.
 * @param timeZone the service's zone, for a database whose source has never answered
 * @param language of the comments; by default that of the database
 */
export async function planForDba(db: Db, timeZone: string, language?: Language): Promise<readonly string[]> {
  const { rows } = await sql`select where to_regclass('livehouse_ops.bi_settings') is not null`.execute(db)
  const empty = { fingerprint: null, language: 'en', timeZone, views: [], isWhole: false, roles: [] } as const
  const state = rows.length > 0 ? await readBiState(db, timeZone) : empty
  return planPublication({ ...state, mayCreateRoles: true, ...(language && { language }) })
}

import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { BiSettings } from '../bi-settings.ts'
import { type Language, roles, SCHEMA } from '../view-statements.ts'
import { applyPlan } from './apply-plan.ts'
import { readBiState, writeBiSettings } from './bi-state.ts'
import { groupPersons } from './group-persons.ts'
import { emptyBiState, planPublication } from './plan-publication.ts'

const DBA = 'Let a DBA run the output of `livehouse migrate sql`'

/**
 * What came of it; a notice says what is left for a person, and how. `blocked`: the views stay as they are, or are not
 * there.
 */
export interface BiOutcome {
  readonly status: 'unchanged' | 'published' | 'blocked'
  readonly notice?: string
}

/**
 * Makes `livehouse_bi` what this livehouse declares: schema, views, comments, roles and grants, all or nothing, after
 * the migrations. Nothing is done where it is so already. Roles that this user may not make are left to a DBA.
 */
export async function publishBi(
  db: Db,
  { signal, settings }: { readonly signal?: AbortSignal; readonly settings?: BiSettings | undefined } = {},
): Promise<BiOutcome> {
  if (settings !== undefined) await writeBiSettings(db, settings)
  const outcome = await applyPlan(db, signal, planBi, DBA)
  if (outcome.status === 'unchanged') return outcome
  if (outcome.status === 'blocked') {
    const meanwhile = 'Until they are, persons and kept figures may not be renewed'
    return { status: 'blocked', notice: `The views of ${SCHEMA} are not up to date: ${outcome.reason}. ${meanwhile}.` }
  }
  // With the views of an older livehouse nobody has put them together so far.
  await groupPersons(db, signal)
  const { roles: present } = await readBiState(db)
  const missing = Object.keys(roles).filter((role) => !present.includes(role))
  if (missing.length === 0) return outcome
  const names = missing.join(' and ')
  const notice = `Nobody but this user can read ${SCHEMA} yet: it may not create the roles ${names}. ${DBA}.`
  return { status: 'published', notice }
}

/**
 * What publishing would execute: none where the views are those of this livehouse. Asks the catalog; changes nothing.
 */
export async function planBi(db: Db): Promise<readonly string[]> {
  return planPublication(await readBiState(db))
}

/**
 * What a DBA runs after the pending migrations: views, grants, and the roles that the user of livehouse may not make.
 * @param timeZone the service's zone, for a database that no run has claimed
 * @param language of the comments; that of the database where it is not given
 */
export async function planForDba(db: Db, timeZone: string, language?: Language): Promise<readonly string[]> {
  const { rows } = await sql`select where to_regclass('livehouse_ops.bi_settings') is not null`.execute(db)
  const state = rows.length > 0 ? await readBiState(db) : emptyBiState(timeZone, language)
  return planPublication({ ...state, mayCreateRoles: true, ...(language && { language }) })
}

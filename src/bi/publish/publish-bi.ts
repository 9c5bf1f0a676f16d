import { sql } from 'kysely'
import type { Language } from '../../core/column.ts'
import type { Db } from '../../store/database.ts'
import type { BiSettings } from '../bi-settings.ts'
import { roles, SCHEMA } from '../view-statements.ts'
import { applyPlan } from './apply-plan.ts'
import { readBiState, writeBiSettings } from './bi-state.ts'
import { groupPersons } from './group-persons.ts'
import { planPublication } from './plan-publication.ts'

const ASK_DBA = 'Let a DBA run the output of `livehouse migrate sql`'

/**
 * The result; `notice` says what a person still has to do. `blocked`: nothing has changed, so the old views stay, if
 * there are any.
 */
export interface BiOutcome {
  readonly status: 'unchanged' | 'published' | 'blocked'
  readonly notice?: string
}

interface PublishRequest {
  readonly signal?: AbortSignal
  readonly settings?: BiSettings | undefined
  /** The zone of the service, used until a source is recorded. */
  readonly timeZone?: string
}

/**
 * Publishes schema `livehouse_bi` as declared: views, comments, roles and grants, in one transaction, after the
 * migrations. Does nothing if all is up to date. Leaves roles that this user may not create to a DBA.
 */
export async function publishBi(db: Db, { signal, settings, timeZone }: PublishRequest = {}): Promise<BiOutcome> {
  if (settings !== undefined) await writeBiSettings(db, settings)
  const outcome = await applyPlan(db, signal, async (each) => await planBi(each, timeZone), ASK_DBA)
  if (outcome.status === 'unchanged') return outcome
  if (outcome.status === 'blocked') {
    const meanwhile = 'Until the views are, new viewers are not grouped into persons, and queries are slower'
    return { status: 'blocked', notice: `The views of ${SCHEMA} are not up to date: ${outcome.reason}. ${meanwhile}.` }
  }
  // Runs group no persons while the views are those of another version.
  await groupPersons(db, signal)
  const { roles: existingRoles } = await readBiState(db)
  const missingRoles = Object.keys(roles).filter((role) => !existingRoles.includes(role))
  if (missingRoles.length === 0) return outcome
  const reason = `it may not create the roles ${missingRoles.join(' and ')}`
  return { status: 'published', notice: `Only this user can read ${SCHEMA}: ${reason}. ${ASK_DBA}.` }
}

/** Plans what `publishBi` would execute: nothing if the views are up to date. Only reads. */
export async function planBi(db: Db, timeZone?: string): Promise<readonly string[]> {
  return planPublication(await readBiState(db, timeZone))
}

/**
 * Plans what a DBA runs after the migrations: views, grants, and the roles that livehouse's user may not create.
 * @param timeZone the zone of the service, used until a source is recorded
 * @param language of the comments; by default that of the database
 */
export async function planForDba(db: Db, timeZone: string, language?: Language): Promise<readonly string[]> {
  const { rows } = await sql`select where to_regclass('livehouse_ops.bi_settings') is not null`.execute(db)
  const empty = { fingerprint: null, language: 'en', timeZone, views: [], isWhole: false, roles: [] } as const
  const state = rows.length > 0 ? await readBiState(db, timeZone) : empty
  return planPublication({ ...state, mayCreateRoles: true, ...(language && { language }) })
}

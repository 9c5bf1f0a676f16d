import { type Kysely, sql } from 'kysely'
import type { Language } from '../view-statements.ts'
import type { Database } from '../../store/database.ts'
import { emptyBiState, planPublication } from './plan-publication.ts'
import { readBiState } from './read-bi-state.ts'

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

import { type Kysely, sql } from 'kysely'
import { LivehouseError } from '../../core/errors.ts'
import { FORMS_SCHEMA } from '../form-view.ts'
import { quoteName } from '../quote.ts'
import type { Database } from '../../store/database.ts'
import { planWithdrawal } from './plan-publication.ts'

/**
 * Takes the views of `livehouse_bi` and `livehouse_forms` away before the tables under them go, in the transaction of the migration; the next
 * publishing makes them again.
 * @throws db.refused where views of somebody else stand on them
 */
export async function withdrawBi(transaction: Kysely<Database>): Promise<void> {
  const { rows: found } = await sql<{ isThere: boolean }>`
    select to_regclass('livehouse_ops.bi_settings') is not null as "isThere"`.execute(transaction)
  if (found[0]?.isThere !== true) return
  const { rows } = await sql<{ views: readonly string[] }>`select views from livehouse_ops.bi_settings`.execute(
    transaction,
  )
  const statements = [...(await planFormsWithdrawal(transaction)), ...planWithdrawal(rows[0]?.views ?? [])]
  try {
    await sql.raw(statements.join(';\n')).execute(transaction)
  } catch (error) {
    const dependents = dependentsIn(error)
    if (dependents === undefined) throw error
    const reason = `${dependents} stands on the views of livehouse_bi or ${FORMS_SCHEMA}`
    throw new LivehouseError(
      'db.refused',
      `The migration cannot be taken back: ${reason}. Keep its definition (pg_get_viewdef) and drop it first.`,
      { reason, sqlState: '2BP01' },
      { cause: error },
    )
  }
}

async function planFormsWithdrawal(transaction: Kysely<Database>): Promise<readonly string[]> {
  const { rows: found } = await sql<{ isThere: boolean }>`
    select to_regclass('livehouse_ops.published_forms') is not null as "isThere"`.execute(transaction)
  if (found[0]?.isThere !== true) return []
  const { rows } = await sql<{ view: string }>`select view_name as view from livehouse_ops.published_forms`.execute(
    transaction,
  )
  if (rows.length === 0) return []
  const names = rows.map(({ view }) => `${FORMS_SCHEMA}.${quoteName(view)}`).join(', ')
  return [`drop view if exists ${names}`, 'update livehouse_ops.published_forms set fingerprint = null']
}

const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01'

/** What somebody made on top of what was to be dropped, by the names of Postgres; undefined for any other error. */
export function dependentsIn(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === DEPENDENT_OBJECTS_STILL_EXIST)) return undefined
  const detail = 'detail' in error ? String(error.detail) : ''
  const names = [...detail.matchAll(/^(.+?) depends on /gm)].map(([, name]) => name)
  return [...new Set(names)].join(', ')
}

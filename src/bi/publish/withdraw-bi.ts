import { sql } from 'kysely'
import { LivehouseError } from '../../core/errors.ts'
import type { Db } from '../../store/database.ts'
import { FORMS_SCHEMA } from '../form-view.ts'
import { dependentsIn } from './apply-plan.ts'
import { planWithdrawal } from './plan-publication.ts'

/**
 * Drops the views of `livehouse_bi` and `livehouse_forms` in the transaction of a migration that drops the tables under
 * them; the next publication creates them again.
 */
export async function withdrawBi(transaction: Db): Promise<void> {
  const { rows: tables } = await sql`
    select where to_regclass('livehouse_ops.bi_settings') is not null
      and to_regclass('livehouse_ops.published_forms') is not null`.execute(transaction)
  // Nothing can have been published before both tables exist.
  if (tables.length === 0) return
  const { rows } = await sql<{ views: readonly string[]; forms: readonly string[] }>`
    select views, array(select format('%I.%I', ${FORMS_SCHEMA}::text, view_name)
      from livehouse_ops.published_forms) as forms
    from livehouse_ops.bi_settings`.execute(transaction)
  const { views = [], forms = [] } = rows[0] ?? {}
  const formStatements =
    forms.length === 0
      ? []
      : [`drop view if exists ${forms.join(', ')}`, 'update livehouse_ops.published_forms set fingerprint = null']
  await sql.raw([...formStatements, ...planWithdrawal(views)].join(';\n')).execute(transaction)
}

/** Explains why other people's views or tables keep one from being dropped; undefined for any other error. */
export function explainDependents(error: unknown): LivehouseError<'db.refused'> | undefined {
  const dependents = dependentsIn(error)
  if (dependents === undefined) return undefined
  const reason = `${dependents} depends on what has to be dropped`
  const repair = 'Save its definition (pg_get_viewdef), drop it, and run this again'
  const message = `Nothing was changed: ${reason}. ${repair}.`
  return new LivehouseError('db.refused', message, { reason, sqlState: '2BP01' }, { cause: error })
}

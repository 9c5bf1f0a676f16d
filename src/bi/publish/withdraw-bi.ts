import { sql } from 'kysely'
import { LivehouseError } from '../../core/errors.ts'
import type { Db } from '../../store/database.ts'
import { FORMS_SCHEMA } from '../form-view.ts'
import { dependentsIn } from './apply-plan.ts'
import { planWithdrawal } from './plan-publication.ts'

/**
 * Takes the views of `livehouse_bi` and `livehouse_forms` away before the tables under them go, in the transaction of
 * the migration; the next publishing makes them again.
 * @throws db.refused where views of somebody else stand on them
 */
export async function withdrawBi(transaction: Db): Promise<void> {
  const { rows: found } = await sql`
    select where to_regclass('livehouse_ops.bi_settings') is not null
      and to_regclass('livehouse_ops.published_forms') is not null`.execute(transaction)
  // Before both are there nothing has been published by this livehouse.
  if (found.length === 0) return
  const { rows } = await sql<{ views: readonly string[]; forms: readonly string[] }>`
    select views, array(select format('%I.%I', ${FORMS_SCHEMA}::text, view_name)
      from livehouse_ops.published_forms) as forms
    from livehouse_ops.bi_settings`.execute(transaction)
  const { views = [], forms = [] } = rows[0] ?? {}
  const ofForms =
    forms.length === 0
      ? []
      : [`drop view if exists ${forms.join(', ')}`, 'update livehouse_ops.published_forms set fingerprint = null']
  try {
    await sql.raw([...ofForms, ...planWithdrawal(views)].join(';\n')).execute(transaction)
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

import { sql } from 'kysely'
import { LivehouseError } from '../../core/errors.ts'
import type { Db } from '../../store/database.ts'
import { FORMS_SCHEMA } from '../form-view.ts'
import { dependentsIn } from './apply-plan.ts'
import { planWithdrawal } from './plan-publication.ts'

/**
 * Drops the views of `livehouse_bi` and `livehouse_forms` before a migration drops the tables under them, in its
 * transaction; the next publishing makes them again.
 * @throws db.refused where other people's views depend on them
 */
export async function withdrawBi(transaction: Db): Promise<void> {
  const { rows: found } = await sql`
    select where to_regclass('livehouse_ops.bi_settings') is not null
      and to_regclass('livehouse_ops.published_forms') is not null`.execute(transaction)
  // Before both tables exist nothing has been published.
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
    const reason = `${dependents} depends on the views of livehouse_bi or ${FORMS_SCHEMA}`
    const repair = 'Keep its definition (pg_get_viewdef) and drop it first.'
    const message = `The migration cannot be taken back: ${reason}. ${repair}`
    throw new LivehouseError('db.refused', message, { reason, sqlState: '2BP01' }, { cause: error })
  }
}

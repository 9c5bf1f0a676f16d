import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { changeSchema, type MigrateOptions, readMigrationStatus, requireNobodyAtWork } from '../../store/migrate.ts'
import { MIGRATIONS } from '../../store/migration-lock.ts'
import { FORMS_SCHEMA } from '../form-view.ts'
import { planWithdrawal } from './plan-publication.ts'

/** Reverts the last migration and drops the views for analysts. @returns its name, if any @throws as `migrateUp` */
export async function migrateDown(db: Db, options: MigrateOptions = {}): Promise<readonly string[]> {
  if ((await readMigrationStatus(db, options)).every(({ appliedAt }) => appliedAt === null)) return []
  return await changeSchema(db, options, async (transaction, migrations) => {
    const status = await readMigrationStatus(transaction, { ...options, migrations })
    const last = status.findLast(({ appliedAt }) => appliedAt !== null)
    if (last === undefined) return []
    await requireNobodyAtWork(transaction, `${last.name} is to be reverted`)
    await withdrawBi(transaction)
    await migrations[last.name]?.down?.(transaction)
    await transaction.deleteFrom(MIGRATIONS).where('name', '=', last.name).execute()
    return [last.name]
  })
}

/**
 * Drops the views of `livehouse_bi` and `livehouse_forms` in the transaction of a migration that drops the tables under
 * them; the next publication creates them again.
 */
async function withdrawBi(transaction: Db): Promise<void> {
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

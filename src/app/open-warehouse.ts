import { writeBiSettings } from '../bi/publish/bi-state.ts'
import { planBi, publishBi } from '../bi/publish/publish-bi.ts'
import { planForms, publishForms } from '../bi/publish/publish-forms.ts'
import { SCHEMA } from '../bi/view-statements.ts'
import { checkSource, type Source } from '../ledger/source.ts'
import type { Db } from '../store/database.ts'
import { migrateUp, requireMigrated } from '../store/migrate.ts'
import type { AppContext } from './context.ts'
import { OPENING, openConfiguredDatabase } from './open-database.ts'
import type { DatabaseSettings } from './settings.ts'

/**
 * Opens the warehouse for a verb: names it on standard error, applies pending migrations or refuses them, refuses
 * a database of another source, and brings the analysts' views up to date. Use it with `await using`.
 * @param source the service of the settings; not given if the verb does not call it
 * @throws db.… codes
 */
export async function openWarehouse(
  context: AppContext,
  settings: DatabaseSettings,
  source?: Source,
  maxConnections?: number,
): Promise<Db> {
  const { signal, remark } = context
  await using resources = new AsyncDisposableStack()
  const db = resources.use(await openConfiguredDatabase(context, settings, maxConnections))
  using _waiting = await context.openProgress(OPENING)
  if (settings.isAutoMigrated) {
    const applied = await migrateUp(db, { signal })
    const names = applied.length > 3 ? [`${applied.length} migrations, up to ${applied.at(-1)}`] : applied
    if (names.length > 0) remark(`migrated: ${names.join(', ')}`)
  } else {
    await requireMigrated(db, { signal })
  }
  if (source !== undefined) await checkSource(db, source)
  if (settings.isAutoMigrated) {
    const { notice } = await publishBi(db, { signal, settings: settings.bi })
    if (notice !== undefined) remark(notice)
    for (const each of (await publishForms(db, signal)).notices.values()) remark(each)
  } else {
    // Masks are settings: writing them does not change the schema.
    if (settings.bi !== undefined) await writeBiSettings(db, settings.bi)
    const outdated = [...((await planBi(db)).length > 0 ? [SCHEMA] : []), ...(await planForms(db)).keys()]
    if (outdated.length > 0)
      remark(
        `Not up to date: the views ${outdated.join(', ')}. LIVEHOUSE_AUTO_MIGRATE is 0, so they stay as they are. ` +
          'Run `livehouse migrate up`, or let a DBA run the output of `livehouse migrate sql`.',
      )
  }
  resources.move()
  return db
}

import type { DatabaseSettings } from './settings.ts'
import type { Kysely } from 'kysely'
import type { BiSettings } from '../bi/bi-settings.ts'
import { FORMS_SCHEMA } from '../bi/form-view.ts'
import { SCHEMA } from '../bi/view-statements.ts'
import { hasCode } from '../core/errors.ts'
import { publishBi } from '../bi/publish/publish-bi.ts'
import { publishForms } from '../bi/publish/publish-forms.ts'
import { type PendingBi, readPendingBi } from '../bi/publish/read-pending-bi.ts'
import { writeBiSettings } from '../bi/publish/bi-state.ts'
import type { Database } from '../store/database.ts'
import { migrateUp, requireMigrated } from '../store/migrate.ts'
import { claimSource, type Source } from '../ledger/source.ts'
import { openConfiguredDatabase, type OpeningContext } from './open-database.ts'

/** What a verb needs the warehouse for. */
export interface WarehouseRequest {
  readonly settings: DatabaseSettings
  /** Whose records it holds or will hold; undefined for a verb that does not know, which then only looks. */
  readonly source: Source | undefined
  /** Which database of the embedded PostgreSQL; `livehouse` when not given. */
  readonly embeddedDatabase?: string
  /** The largest number of connections. */
  readonly maxConnections?: number
}

/**
 * Opens the warehouse for a verb: says which database it is, applies pending migrations or refuses them, makes sure that it
 * belongs to the source, and brings the analysts' views up to date. Use it with `await using`.
 * @throws db.… codes
 */
export async function openWarehouse(
  context: OpeningContext,
  { settings, source, embeddedDatabase, maxConnections }: WarehouseRequest,
): Promise<Kysely<Database>> {
  const { signal, remark } = context
  const db = await openConfiguredDatabase(context, settings, embeddedDatabase, maxConnections)
  try {
    if (settings.isAutoMigrated) {
      const applied = await migrateUp(db, { signal })
      if (applied.length > 0) remark(`migrated: ${applied.join(', ')}`)
    } else {
      await requireMigrated(db, { signal })
    }
    if (source !== undefined) await claimSource(db, source)
    // After the claim: the views show the days of the source's zone.
    if (settings.isAutoMigrated) {
      const { notice } = await publishBi(db, { signal, settings: settings.bi })
      if (notice !== undefined) remark(notice)
      for (const each of (await publishForms(db, signal)).notices) remark(each)
    } else {
      // A mask is no change of the schema: it holds at once, whoever makes the views.
      if (settings.bi !== undefined) await keepBiSettings(db, settings.bi, remark)
      for (const each of describePendingBi(await readPendingBi(db))) remark(each)
    }
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

async function keepBiSettings(
  db: Kysely<Database>,
  settings: BiSettings,
  remark: OpeningContext['remark'],
): Promise<void> {
  try {
    await writeBiSettings(db, settings)
  } catch (error) {
    if (!hasCode(error, 'db.refused')) throw error
    remark(
      `What LIVEHOUSE_MASK, LIVEHOUSE_CURRENCY and LIVEHOUSE_LANG say could not be kept in the database: ${error.details.reason}.`,
    )
  }
}

const UNASKED = 'LIVEHOUSE_AUTO_MIGRATE is 0, so they stay as they are'
const MENDING = 'Run `livehouse migrate up`'

/** What commands that may not change the schema say of views that are not up to date; none where all are. */
export function describePendingBi({ views, forms }: Pick<PendingBi, 'views' | 'forms'>): readonly string[] {
  const state = {
    current: [],
    missing: [`The views of ${SCHEMA} are not there yet`],
    outdated: [`The views of ${SCHEMA} are not those of this livehouse`],
  }[views].map((seen) => `${seen}: ${UNASKED}. ${MENDING}, or let a DBA run the output of \`livehouse migrate sql\`.`)
  if (forms.length === 0) return state
  const names = forms.map((view) => `${FORMS_SCHEMA}.${view}`).join(', ')
  return [...state, `Not up to date with their questionnaires: ${names}. ${UNASKED}. ${MENDING}.`]
}

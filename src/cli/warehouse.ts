import type { Kysely } from 'kysely'
import type { DatabaseSettings } from '../config.ts'
import { publishBi } from '../db/bi/publish-bi.ts'
import { publishForms } from '../db/bi/publish-forms.ts'
import type { Database } from '../db/database.ts'
import { migrateUp, requireMigrated } from '../db/migrate.ts'
import { claimSource, type Source } from '../state/source.ts'
import { type OpeningContext, openConfiguredDatabase } from './open-configured-database.ts'

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
    }
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

import type { Kysely } from 'kysely'
import type { DatabaseSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import { describeTarget } from '../db/database-url.ts'
import { openDatabase } from '../db/pool.ts'
import type { CliContext } from './command.ts'
import { embeddedUrl } from './embedded-url.ts'

/** What opening a database takes of a verb's context. */
export type OpeningContext = Pick<CliContext, 'clock' | 'signal' | 'remark' | 'addSecret'>

/**
 * Opens the database of the settings as it is, and says on standard error which one it is. `embeddedDatabase`: which one
 * of the embedded PostgreSQL.
 * @throws db.embedded, db.unreachable, db.refused, db.tooOld
 */
export async function openConfiguredDatabase(
  context: OpeningContext,
  { target, dataDir }: DatabaseSettings,
  embeddedDatabase?: string,
  maxConnections?: number,
): Promise<Kysely<Database>> {
  const url = target.kind === 'url' ? target.url : await embeddedUrl(context, dataDir, embeddedDatabase)
  const kind = target.kind === 'url' ? 'DATABASE_URL' : `the embedded PostgreSQL in ${dataDir}`
  context.remark(`database: ${describeTarget(url)} (${kind})`)
  return openDatabase(url, { signal: context.signal, ...(maxConnections && { maxConnections }) })
}

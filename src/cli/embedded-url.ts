import { createDatabaseIfMissing } from '../db/create-database.ts'
import { startEmbedded } from '../db/embedded.ts'
import type { CliContext } from './command.ts'

/** The database that the embedded PostgreSQL keeps for `DATABASE_URL=embedded`. */
export const EMBEDDED_DATABASE = 'livehouse'

/**
 * The URL of a database in the embedded PostgreSQL, which is started and the database made where need be. It holds the
 * password.
 * @throws db.embedded
 */
export async function embeddedUrl(
  { clock, signal, addSecret }: Pick<CliContext, 'clock' | 'signal' | 'addSecret'>,
  dataDir: string,
  database: string = EMBEDDED_DATABASE,
): Promise<string> {
  const server = await startEmbedded(dataDir, clock, signal)
  addSecret(new URL(server.url(database)).password)
  await createDatabaseIfMissing(server.url('postgres'), database, signal)
  return server.url(database)
}

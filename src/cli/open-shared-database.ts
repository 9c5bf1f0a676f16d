import type { Kysely } from 'kysely'
import type { DatabaseSettings, ServiceSettings } from '../config.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Database } from '../db/database.ts'
import { isEmbeddedRunning } from '../db/embedded.ts'
import { mayShareCalls } from '../state/may-share-calls.ts'
import { checkSource } from '../state/source.ts'
import type { CliContext } from './command.ts'
import { openAsItIs } from './open-as-it-is.ts'

/** Undefined where there is nothing to share over. */
export interface SharedDatabase extends AsyncDisposable {
  readonly db: Kysely<Database> | undefined
}

const nothing: SharedDatabase = { db: undefined, [Symbol.asyncDispose]: async () => {} }

/**
 * The warehouse for a verb that can do without one: over it the token is shared with the other processes of this account.
 * It is taken as it is; one that lacks a migration or the right to write is left alone. One that is out of reach or belongs
 * to another source too, and that is said. `settings`: undefined where none is set.
 */
export async function openSharedDatabase(
  context: CliContext,
  service: ServiceSettings,
  settings: DatabaseSettings | undefined,
): Promise<SharedDatabase> {
  if (settings === undefined) return nothing
  // Nobody works with a server that does not run.
  if (settings.target.kind === 'embedded' && !(await isEmbeddedRunning(settings.dataDir))) return nothing
  await using opened = new AsyncDisposableStack()
  try {
    const { db, pending } = opened.use(await openAsItIs(context, settings))
    if (pending.length > 0 || !(await mayShareCalls(db))) return nothing
    await checkSource(db, service)
    const kept = opened.move()
    return { db, [Symbol.asyncDispose]: async () => await kept.disposeAsync() }
  } catch (error) {
    context.signal.throwIfAborted()
    if (!(error instanceof LivehouseError)) throw error
    context.remark(`the token is not shared with other processes: ${error.message}`)
    return nothing
  }
}

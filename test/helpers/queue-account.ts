import { sql } from 'kysely'
import type { Command } from '../../src/cli/command.ts'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { atFirstList } from './fault-effects.ts'
import { untilRow } from './own-locks.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { environmentOf, runVerb } from './run-verb.ts'
import { type Child, startChild } from './start-child.ts'

type Settings = Readonly<Record<string, string>>

interface SyncOptions {
  readonly signal?: AbortSignal
  readonly settings?: Settings
}

/** The leases of partitions that processes hold now. */
export const heldPartitions = sql`select from livehouse_ops.leases where name like 'partition %' and expires_at > now()`

/** Starts an account whose runs go through the queue, for workers that are processes of their own. */
export async function startQueueAccount(given?: TestDatabase) {
  const resources = new AsyncDisposableStack()
  const database = resources.use(given ?? (await createTestDatabase()))
  const emulator = resources.use(await startEmulator({ channels: 2, viewers: 60 }))
  const environment: Settings = { ...environmentOf(emulator, database), LOG_LEVEL: 'info' }
  const run = async (verb: Command, argv: readonly string[] = [], settings: Settings = {}, signal?: AbortSignal) => {
    const context = { environment: { ...environment, ...settings }, clock: systemClock, ...(signal && { signal }) }
    return await runVerb(verb, argv, context)
  }
  return {
    emulator,
    database,
    environment,
    startWorker: async (settings: Settings = {}): Promise<Child> => {
      const child = startChild(['worker', '--concurrency', '3'], { ...environment, ...settings })
      await child.untilOutput('"worker.started"')
      return child
    },
    run,
    /** `livehouse sync --queue --json` in this process. */
    sync: async (flags: readonly string[] = [], { signal, settings }: SyncOptions = {}) => {
      const { code, printed, error } = await run(sync, ['--queue', '--json', ...flags], settings, signal)
      if (error !== undefined) throw new Error('the sync failed', { cause: error })
      return { code, outcome: JSON.parse(printed.join('\n')) }
    },
    /** Waits until the queue has `count` partitions in this state. */
    untilQueued: async (state: 'created' | 'active', count: number): Promise<void> => {
      const jobs = sql`select from pgboss.job where name = 'partitions' and state = ${state} having count(*) = ${count}`
      await untilRow(database.db, sql`select where to_regclass('pgboss.job') is not null`)
      await untilRow(database.db, jobs)
    },
    /** Acts when the first list is answered, and resolves then; the answer still has the rows from before. */
    atFirstList: async (act: () => void, of: { readonly endpoint?: string } = {}): Promise<void> =>
      await new Promise((resolve) => {
        emulator.faults.push({ effect: atFirstList(() => resolve(act())), ...of })
      }),
    /** Keeps lists from arriving until `releaseLists`. `asked` resolves when one is requested. */
    holdLists: (): { readonly asked: Promise<void>; readonly releaseLists: () => void } => {
      const asked = Promise.withResolvers<void>()
      const answer = (given: Answer): Answer => {
        if (given.body.kind !== 'list') return given
        asked.resolve()
        return { ...given, delivery: { kind: 'hang' } }
      }
      emulator.faults.push({ effect: { name: 'hang', answer } })
      return { asked: asked.promise, releaseLists: () => void (emulator.faults.length = 0) }
    },
    /** Lets the leases of stopped processes expire at once instead of after 20 s. */
    expireLeases: async ({ db }: Pick<TestDatabase, 'db'> = database): Promise<void> => {
      await sql`update livehouse_ops.leases set expires_at = now() where name like 'partition %'`.execute(db)
      await sql`update pgboss.job set heartbeat_on = now() - interval '1 min' where state = 'active'`.execute(db)
    },
    readRuns: async () => {
      const runs = database.db.selectFrom('livehouse_ops.runs').select(['command', 'status']).orderBy('run_id')
      return (await runs.execute()).map((each) => `${each.command} ${each.status}`)
    },
    [Symbol.asyncDispose]: async () => await resources.disposeAsync(),
  }
}

/** Stops a worker as an operator would. @throws unless it exits with 143 */
export async function stop({ process, ended }: Child): Promise<void> {
  process.kill('SIGTERM')
  const { code, error } = await ended
  if (code !== 143) throw new Error(`the worker exited with ${code}:\n${error}`)
}

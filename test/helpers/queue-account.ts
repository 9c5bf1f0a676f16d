import { sql } from 'kysely'
import type { Command } from '../../src/cli/command.ts'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Answer } from '../../src/emulator/answer.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import { atFirstList } from './fault-effects.ts'
import { untilRow } from './own-locks.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { environmentOf, runVerb, type VerbRun } from './run-verb.ts'
import { type Child, startChild } from './start-child.ts'

type Settings = Readonly<Record<string, string>>

/** Partitions that a process holds now. */
export const heldPartitions = sql`select from livehouse_ops.leases where name like 'partition %' and expires_at > now()`

/** An account whose runs are put on the queue, for workers that are processes of their own. */
export class QueueAccount implements AsyncDisposable {
  readonly emulator: Emulator
  readonly database: TestDatabase
  readonly environment: Settings

  private constructor(emulator: Emulator, database: TestDatabase) {
    this.emulator = emulator
    this.database = database
    this.environment = { ...environmentOf(emulator, database), LOG_LEVEL: 'info' }
  }

  static async start(database?: TestDatabase): Promise<QueueAccount> {
    const emulator = await startEmulator({ channels: 2, viewers: 60 })
    return new QueueAccount(emulator, database ?? (await createTestDatabase()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.emulator[Symbol.asyncDispose]()
    await this.database[Symbol.asyncDispose]()
  }

  async startWorker(settings: Settings = {}): Promise<Child> {
    const child = startChild(['worker', '--concurrency', '3'], { ...this.environment, ...settings })
    await child.hears('"worker.started"')
    return child
  }

  /** `livehouse sync --queue --json` in this process. */
  async sync(flags: readonly string[] = [], { signal, settings }: { signal?: AbortSignal; settings?: Settings } = {}) {
    const given = { environment: { ...this.environment, ...settings }, clock: systemClock, ...(signal && { signal }) }
    const { code, printed, error } = await runVerb(sync, ['--queue', '--json', ...flags], given)
    if (error !== undefined) throw new Error('the sync did not end', { cause: error })
    return { code, outcome: JSON.parse(printed.join('\n')) }
  }

  /** A verb in this process. */
  async run(verb: Command, argv: readonly string[] = [], settings: Settings = {}): Promise<VerbRun> {
    return await runVerb(verb, argv, { environment: { ...this.environment, ...settings }, clock: systemClock })
  }

  /** Until the queue has so many partitions in this state. */
  async untilQueued(state: 'created' | 'active', count: number): Promise<void> {
    const { db } = this.database
    const jobs = sql`select from pgboss.job where name = 'partitions' and state = ${state} having count(*) = ${count}`
    await untilRow(db, sql`select where to_regclass('pgboss.job') is not null`)
    await untilRow(db, jobs)
  }

  /** Does something at the first list that is answered, which then tells what was there before. */
  atFirstList(act: () => void): Promise<void> {
    const done = Promise.withResolvers<void>()
    const effect = atFirstList(() => {
      act()
      done.resolve()
    })
    this.emulator.faults.push({ effect })
    return done.promise
  }

  /** A service whose lists never arrive, until it is let go. @returns resolves when one is asked for */
  holdLists(): { readonly asked: Promise<void>; readonly letGo: () => void } {
    const asked = Promise.withResolvers<void>()
    const answer = (given: Answer): Answer => {
      if (given.body.kind !== 'list') return given
      asked.resolve()
      return { ...given, delivery: { kind: 'hang' } }
    }
    this.emulator.faults.push({ effect: { name: 'hang', answer } })
    return { asked: asked.promise, letGo: () => void (this.emulator.faults.length = 0) }
  }

  /** What a process that has stopped holds is free at once, in place of after 20 s. */
  async expireHeld({ db }: Pick<TestDatabase, 'db'> = this.database): Promise<void> {
    await sql`update livehouse_ops.leases set expires_at = now() where name like 'partition %'`.execute(db)
    await sql`update pgboss.job set heartbeat_on = now() - interval '1 min' where state = 'active'`.execute(db)
  }

  async readRuns() {
    const runs = this.database.db.selectFrom('livehouse_ops.runs').select(['command', 'status']).orderBy('run_id')
    return (await runs.execute()).map((run) => `${run.command} ${run.status}`)
  }
}

/** As an operator would. @throws unless it ends as SIGTERM ends it */
export async function stop({ process, ended }: Child): Promise<void> {
  process.kill('SIGTERM')
  const { code, error } = await ended
  if (code !== 143) throw new Error(`the worker ended with ${code}:\n${error}`)
}

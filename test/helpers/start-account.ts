import type { Command } from '../../src/cli/command.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { environmentOf, runVerb, type VerbRun } from './run-verb.ts'

/** An account at the emulator and a warehouse for it, at a clock that stands until it is moved, or somebody waits and nothing real is under way. */
export interface TestAccount extends AsyncDisposable {
  readonly emulator: Emulator
  readonly database: TestDatabase
  readonly clock: { nowMs: number }
  /** Runs a verb with the settings of the account; `settings` adds to them. */
  readonly run: (
    verb: Command,
    argv?: readonly string[],
    settings?: Readonly<Record<string, string>>,
  ) => Promise<VerbRun>
}

export async function startAccount({
  isMigrated = true,
  isPublished = true,
  channels = 2,
  viewers = 60,
} = {}): Promise<TestAccount> {
  const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  const database = await createTestDatabase({ isMigrated, isPublished })
  const emulator = await startEmulator({ channels, viewers, clock })
  return {
    emulator,
    database,
    clock,
    run: (verb, argv = [], settings = {}) =>
      runVerb(verb, argv, { environment: { ...environmentOf(emulator, database), ...settings }, clock }),
    [Symbol.asyncDispose]: async () => {
      await emulator[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

import type { CliContext, Command } from '../../src/cli/command.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { environmentOf, runVerb, type VerbRun } from './run-verb.ts'

/** An account at the emulator and a warehouse for it, at a clock that stands until it is moved, or somebody waits and nothing real is under way. */
export interface TestAccount extends AsyncDisposable {
  readonly emulator: Emulator
  readonly database: TestDatabase
  readonly clock: { nowMs: number }
  readonly environment: Readonly<Record<string, string>>
  /** Runs a verb with the settings of the account; `settings` adds to them. */
  readonly run: (
    verb: Command,
    argv?: readonly string[],
    settings?: Readonly<Record<string, string>>,
    overrides?: Partial<CliContext>,
  ) => Promise<VerbRun>
}

interface AccountOptions extends EmulatorOptions {
  readonly isMigrated?: boolean
  readonly isPublished?: boolean
}

export async function startAccount({
  isMigrated = true,
  isPublished = true,
  ...options
}: AccountOptions = {}): Promise<TestAccount> {
  const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  const database = await createTestDatabase({ isMigrated, isPublished })
  const emulator = await startEmulator({ channels: 2, viewers: 60, clock, ...options })
  const environment = environmentOf(emulator, database)
  return {
    emulator,
    database,
    clock,
    environment,
    run: (verb, argv = [], settings = {}, overrides = {}) =>
      runVerb(verb, argv, { environment: { ...environment, ...settings }, clock, ...overrides }),
    [Symbol.asyncDispose]: async () => {
      await emulator[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

import type { CliContext, Command } from '../../src/cli/command.ts'
import { type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase } from './postgres.ts'
import { environmentOf, runVerb } from './run-verb.ts'

export type TestAccount = Awaited<ReturnType<typeof startAccount>>

type AccountOptions = EmulatorOptions & Parameters<typeof createTestDatabase>[0]

/**
 * An account at the emulator and a warehouse for it, at a clock that stands until it is moved, or somebody waits and nothing
 * real is under way.
 */
export async function startAccount({ isMigrated = true, isPublished = true, ...options }: AccountOptions = {}) {
  const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  const database = await createTestDatabase({ isMigrated, isPublished })
  const emulator = await startEmulator({ channels: 2, viewers: 60, clock, ...options })
  const environment = environmentOf(emulator, database)
  return {
    emulator,
    database,
    clock,
    environment,
    /** Runs a verb with the settings of the account; `settings` adds to them. */
    run: (
      verb: Command,
      argv: readonly string[] = [],
      settings: Readonly<Record<string, string>> = {},
      overrides: Partial<CliContext> = {},
    ) => runVerb(verb, argv, { environment: { ...environment, ...settings }, clock, ...overrides }),
    [Symbol.asyncDispose]: async () => {
      await emulator[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

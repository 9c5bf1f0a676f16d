import type { CliContext, Command } from '../../src/cli/command.ts'
import { sync } from '../../src/cli/sync.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import { type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { FIXED_NOW } from './emulated-service.ts'
import { expectTruth } from './expect-truth.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestDatabase } from './postgres.ts'
import { environmentOf, runVerb } from './run-verb.ts'

export type TestAccount = Awaited<ReturnType<typeof startAccount>>

type AccountOptions = EmulatorOptions & Parameters<typeof createTestDatabase>[0]

/**
 * Starts an account at the emulator and a warehouse for it. Their clock moves only when a test moves it, or when
 * something waits and nothing real is under way.
 */
export async function startAccount({ isMigrated = true, isPublished = true, ...options }: AccountOptions = {}) {
  const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  const resources = new AsyncDisposableStack()
  const database = resources.use(await createTestDatabase({ isMigrated, isPublished }))
  const emulator = resources.use(await startEmulator({ channels: 2, viewers: 60, clock, ...options }))
  const environment = environmentOf(emulator, database)
  /** Runs a verb with the settings of the account; `settings` adds to them. */
  const run = async (
    verb: Command,
    argv: readonly string[] = [],
    settings: Readonly<Record<string, string>> = {},
    overrides: Partial<CliContext> = {},
  ) => await runVerb(verb, argv, { environment: { ...environment, ...settings }, clock, ...overrides })
  const runJson = async (...[verb, argv, settings]: Parameters<typeof run>): Promise<ReturnType<typeof JSON.parse>> => {
    const { code, printed } = await run(verb, ['--json', ...(argv ?? [])], settings)
    return { code, ...JSON.parse(printed.join('')) }
  }
  return {
    emulator,
    database,
    clock,
    environment,
    run,
    /** A time on the service's wall clock. */
    hoursAgo: (hours: number) => wallTimeAt(clock.nowMs - hours * 3_600_000, 'Asia/Shanghai'),
    /** Runs a verb with `--json`. @returns its exit code and what it printed */
    runJson,
    /** Syncs these streams, or with these flags. @returns the same as `runJson` */
    sync: async (asked: string | readonly string[] = [], settings: Readonly<Record<string, string>> = {}) =>
      await runJson(sync, typeof asked === 'string' ? ['--streams', asked] : asked, settings),
    /** Expects the warehouse to equal the service, for all streams if none are named. */
    expectTruth: async (names?: readonly string[]) => await expectTruth({ emulator, database }, names),
    [Symbol.asyncDispose]: async () => await resources.disposeAsync(),
  }
}

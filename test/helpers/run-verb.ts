import type { CliContext, Command } from '../../src/cli/command.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { createTestContext } from './cli-context.ts'
import type { TestDatabase } from './postgres.ts'

export interface VerbRun {
  /** The exit code; undefined where the verb threw. */
  readonly code: number | undefined
  readonly printed: readonly string[]
  readonly remarked: readonly string[]
  readonly error: unknown
  /** The problems of wrong use or of settings. */
  readonly problems: readonly string[]
}

/** Settings of an account whose service is the emulator and whose warehouse is the test's database. */
export function environmentOf(
  emulator: Emulator,
  { url }: Pick<TestDatabase, 'url'>,
): Readonly<Record<string, string>> {
  return {
    LIVEHOUSE_BASE_URL: emulator.baseUrl,
    LIVEHOUSE_API_TOKEN: emulator.apiToken,
    LIVEHOUSE_CHANNELS: emulator.channelIds.join(','),
    LIVEHOUSE_MAX_CALLS_PER_SECOND: '0',
    DATABASE_URL: url,
  }
}

/** Settings of an account that fetches its tokens from the emulator. */
export function credentialsOf({ baseUrl, authUrl, appId, appSecret }: Emulator) {
  return {
    LIVEHOUSE_BASE_URL: baseUrl,
    LIVEHOUSE_AUTH_URL: authUrl,
    LIVEHOUSE_APP_ID: appId,
    LIVEHOUSE_APP_SECRET: appSecret,
  }
}

/** Runs a verb in this process, as the command line would. */
export async function runVerb(
  verb: Command,
  argv: readonly string[],
  overrides: Partial<CliContext>,
): Promise<VerbRun> {
  const { context, printed, remarked } = createTestContext(overrides)
  try {
    return { code: await verb.run(context, argv), printed, remarked, error: undefined, problems: [] }
  } catch (error) {
    return { code: undefined, printed, remarked, error, problems: problemsOf(error) }
  }
}

function problemsOf(error: unknown): readonly string[] {
  const details: unknown = error instanceof LivehouseError ? error.details : undefined
  const { problems } = Object(details)
  return Array.isArray(problems) ? problems.map(String) : []
}

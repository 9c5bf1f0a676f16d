import type { CliContext, Command } from '../../src/cli/command.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { createTestContext } from './cli-context.ts'
import type { TestDatabase } from './postgres.ts'

/** Settings of an account whose service is the emulator and whose warehouse is the test's database. */
export function environmentOf(emulator: Emulator, { url }: Pick<TestDatabase, 'url'>) {
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

/**
 * Runs a verb in this process, as the command line would.
 * @returns its exit code, or the error that it threw and the problems with flags or settings that the error lists
 */
export async function runVerb(verb: Command, argv: readonly string[], overrides: Partial<CliContext>) {
  const { context, printed, remarks } = createTestContext(overrides)
  const { code, error } = await verb.run(context, argv).then(
    (code) => ({ code, error: undefined }),
    (error: unknown) => ({ code: undefined, error }),
  )
  return { code, printed, remarks, error, problems: problemsOf(error) }
}

function problemsOf(error: unknown): readonly string[] {
  const details: unknown = error instanceof LivehouseError ? error.details : undefined
  const { problems } = Object(details)
  return Array.isArray(problems) ? problems.map(String) : []
}

import type { Command } from '../../src/cli/command.ts'
import type { TestAccount } from './start-account.ts'

/** Runs a verb of an account with `--json`. @returns its exit code beside what it printed */
export async function runJson(
  { run }: Pick<TestAccount, 'run'>,
  verb: Command,
  argv: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<ReturnType<typeof JSON.parse>> {
  const { code, printed } = await run(verb, ['--json', ...argv], settings)
  return { code, ...JSON.parse(printed.join('')) }
}

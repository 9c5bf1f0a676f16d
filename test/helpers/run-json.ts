import type { TestAccount } from './start-account.ts'

/** Runs a verb of an account with `--json`. @returns its exit code beside what it printed */
export async function runJson(
  account: TestAccount,
  ...asked: Parameters<TestAccount['runJson']>
): ReturnType<TestAccount['runJson']> {
  return await account.runJson(...asked)
}

import { LivehouseError } from '../core/errors.ts'

/** Takes a whole sentence about what is wrong with a flag or an argument. */
export type Refuse = (problem: string) => void

/**
 * Reads with `read`, which refuses what is wrong.
 * @throws LivehouseError `usage.invalid` with every refusal at once.
 */
export function checkUsage<T>(read: (refuse: Refuse) => T): T {
  const problems: string[] = []
  const result = read((problem) => void problems.push(problem))
  if (problems.length === 0) return result
  throw wrongUse(...problems)
}

/** What is wrong with a command line, also where only the database or the service shows it. */
export function wrongUse(...problems: readonly string[]): LivehouseError<'usage.invalid'> {
  return new LivehouseError('usage.invalid', 'wrong use', { problems })
}

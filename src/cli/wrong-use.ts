import { LivehouseError } from '../core/errors.ts'

/** Takes a whole sentence about what is wrong with a flag or an argument. */
export type Refuse = (problem: string) => void

/**
 * Reads with `read`, which refuses what is wrong.
 * @throws LivehouseError `usage.invalid` with every refusal at once.
 */
export function checkUsage<T>(verb: string, read: (refuse: Refuse) => T): T {
  const problems: string[] = []
  const result = read((problem) => void problems.push(problem))
  if (problems.length === 0) return result
  throw wrongUse(verb, ...problems)
}

/** What is wrong with a command line, also where only the database or the service shows it. */
export function wrongUse(verb: string, ...problems: readonly string[]): LivehouseError<'usage.invalid'> {
  return new LivehouseError('usage.invalid', `wrong use, see livehouse ${verb === '' ? '' : `${verb} `}--help`, {
    problems,
  })
}

/** The candidate that `given` was probably meant to be; undefined when none is close. */
function suggest(given: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(given.length / 3))
  const [best] = candidates
    .map((candidate) => ({
      candidate,
      distance: candidate.startsWith(given) && given !== '' ? 0 : distance(given, candidate),
    }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return best?.candidate
}

/** `, did you mean X?` or nothing, to end a sentence with. */
export function didYouMean(given: string, candidates: readonly string[]): string {
  const suggestion = suggest(given, candidates)
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`
}

/** Insertions, deletions and replacements from one word to the other (Levenshtein). */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [row, letter] of a.split('').entries()) {
    const current = [row + 1]
    for (const [column, other] of b.split('').entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}

/** Returns `; did you mean X?` for the end of a sentence, or an empty string if no candidate is close. */
export function didYouMean(given: string, candidates: readonly string[]): string {
  const limit = Math.max(1, Math.floor(given.length / 3))
  const [best] = candidates
    .map((candidate) => ({
      candidate,
      distance: candidate.startsWith(given) && given !== '' ? 0 : distance(given, candidate),
    }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return best === undefined ? '' : `; did you mean ${best.candidate}?`
}

/** The edit distance, counting insertions, deletions, substitutions and swaps (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    beforeLast = last
    last = current
  }
  return last.at(-1) ?? 0
}

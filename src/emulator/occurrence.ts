/**
 * Numbers rows without an id, 1, 2 … among those of equal identity: ordered by their remaining values, null before any text,
 * texts by code unit.
 */
export function numberOccurrences<Item extends object>(
  rows: readonly Item[],
  identityOf: (row: Item) => readonly (string | null)[],
  remainderOf: (row: Item) => readonly (string | null)[],
): (Item & { readonly occurrence: number })[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(identityOf(row)))
  return [...groups.values()].flatMap((group) =>
    group
      .sort((a, b) => compareTexts(remainderOf(a), remainderOf(b)))
      .map((row, index) => ({ ...row, occurrence: index + 1 })),
  )
}

function compareTexts(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null
    if (left === right) continue
    if (left === null) return -1
    if (right === null) return 1
    return left < right ? -1 : 1
  }
  return 0
}

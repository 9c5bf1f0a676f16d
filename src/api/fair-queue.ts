/** Waiting work of several groups, handed out one group after the other and in order within each. */
export interface FairQueue<T> {
  /** @returns takes the item out again, where it still waits. */
  readonly add: (group: string, item: T) => () => void
  readonly take: () => T | undefined
}

export function createFairQueue<T>(): FairQueue<T> {
  // A Map keeps the order of insertion: the first group is next, and moves to the end when it has had its turn.
  const groups = new Map<string, Set<{ readonly item: T }>>()

  const drop = (group: string, entries: Set<{ readonly item: T }>, entry: { readonly item: T }): void => {
    entries.delete(entry)
    if (entries.size === 0 && groups.get(group) === entries) groups.delete(group)
  }

  return {
    add: (group, item) => {
      const entries = groups.get(group) ?? new Set()
      const entry = { item }
      groups.set(group, entries.add(entry))
      return () => drop(group, entries, entry)
    },
    take: () => {
      for (const [group, entries] of groups) {
        const [entry] = entries
        groups.delete(group)
        if (!entry) continue
        entries.delete(entry)
        if (entries.size > 0) groups.set(group, entries)
        return entry.item
      }
      return undefined
    },
  }
}

/** Rows of the world, which tests may add, replace and remove at any time; a row itself never changes. */
export type RowList<Item extends object> = ReturnType<typeof createRowList<Item>>

const MAX_SELECTIONS = 64

/** Creates a list that keeps its rows in the given array, which it changes. */
export function createRowList<Item extends object>(rows: Item[] = []) {
  const selections = new Map<string, readonly Item[]>()
  let version = 0
  const noteChange = () => {
    version += 1
    selections.clear()
  }
  const indexOf = (row: Item) => {
    const index = rows.indexOf(row)
    if (index === -1) throw new RangeError('the row is not in the list')
    return index
  }
  return {
    /** In the order in which they were added. */
    get rows(): readonly Item[] {
      return rows
    },
    /** Grows with each change. */
    get version() {
      return version
    },
    add: (...newRows: readonly Item[]): void => {
      for (const row of newRows) rows.push(row)
      noteChange()
    },
    replace: (row: Item, next: Item): void => {
      rows[indexOf(row)] = next
      noteChange()
    },
    remove: (row: Item): void => {
      rows.splice(indexOf(row), 1)
      noteChange()
    },
    /** Returns what `select` returns, cached under this name until the list changes. */
    memoize: (name: string, select: () => readonly Item[]): readonly Item[] => {
      const selection = selections.get(name) ?? select()
      if (selections.size >= MAX_SELECTIONS) selections.clear()
      selections.set(name, selection)
      return selection
    },
  }
}

/** Rows of the world that tests may change at any time; rows themselves are never altered, only replaced. */
export interface RowList<Item extends object> {
  /** In the order in which they were added. */
  readonly rows: readonly Item[]
  /** Grows with each change. */
  readonly version: number
  readonly add: (...rows: readonly Item[]) => void
  readonly replace: (row: Item, next: Item) => void
  readonly remove: (row: Item) => void
  /** What `select` returns, which may be kept under this name until the list changes. */
  readonly kept: (name: string, select: () => readonly Item[]) => readonly Item[]
}

const MAX_SELECTIONS = 64

/** Keeps and changes the array that it is given. */
export function createRowList<Item extends object>(rows: Item[] = []): RowList<Item> {
  const selections = new Map<string, readonly Item[]>()
  let version = 0
  const changed = () => {
    version += 1
    selections.clear()
  }
  const indexOf = (row: Item) => {
    const index = rows.indexOf(row)
    if (index === -1) throw new RangeError('the row is not in the list')
    return index
  }
  return {
    rows,
    get version() {
      return version
    },
    add: (...added) => {
      for (const row of added) rows.push(row)
      changed()
    },
    replace: (row, next) => {
      rows[indexOf(row)] = next
      changed()
    },
    remove: (row) => {
      rows.splice(indexOf(row), 1)
      changed()
    },
    kept: (name, select) => {
      const selection = selections.get(name) ?? select()
      if (selections.size >= MAX_SELECTIONS) selections.clear()
      selections.set(name, selection)
      return selection
    },
  }
}

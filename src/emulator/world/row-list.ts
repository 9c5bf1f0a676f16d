/** Rows of the world that tests may change at any time; rows themselves are never altered, only replaced. */
export interface RowList<Item extends object> {
  /** In the order in which they were added. */
  readonly rows: readonly Item[]
  /** Grows with each change, so that what was computed from the rows can be told to be old. */
  readonly version: number
  readonly add: (...rows: readonly Item[]) => void
  /** Puts `next` where `row` stands. */
  readonly replace: (row: Item, next: Item) => void
  readonly remove: (row: Item) => void
  /** The rows that `keep` accepts, sorted, equal ones as added; the views used last are kept until the list changes. */
  readonly sorted: (
    name: string,
    compare: (a: Item, b: Item) => number,
    keep?: (row: Item) => boolean,
  ) => readonly Item[]
}

const MAX_VIEWS = 64

/** Takes the array over. */
export function createRowList<Item extends object>(rows: Item[] = []): RowList<Item> {
  const views = new Map<string, readonly Item[]>()
  let version = 0
  const changed = () => {
    version += 1
    views.clear()
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
    sorted: (name, compare, keep) => {
      const view = views.get(name) ?? (keep ? rows.filter((row) => keep(row)) : [...rows]).sort(compare)
      views.delete(name)
      views.set(name, view)
      const [oldest] = views.keys()
      if (views.size > MAX_VIEWS && oldest !== undefined) views.delete(oldest)
      return view
    },
  }
}

import type { Cell, Row } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import { createCellList } from './cell-list.ts'
import { inputColumns } from './input-rows.ts'

/** Rows of one slice that are written together, held column by column as they will be sent. */
export interface RowBatch {
  readonly append: (rows: readonly Row[]) => void
  readonly size: () => number
  /** The parameter of each input column: the value that all rows share, or their values as an array literal. */
  readonly parameters: () => readonly (Cell | Buffer)[]
  readonly clear: () => void
}

export function createRowBatch(into: LoadTable): RowBatch {
  const columns = inputColumns(into).map(({ name, isShared }) => ({
    name,
    cells: isShared ? undefined : createCellList(),
  }))
  let first: Row | undefined
  let size = 0
  return {
    append: (rows) => {
      first ??= rows[0]
      size += rows.length
      for (const { name, cells } of columns) cells?.append(rows.map((row) => row[name] ?? null))
    },
    size: () => size,
    parameters: () => columns.map(({ name, cells }) => (cells ? cells.literal() : (first?.[name] ?? null))),
    clear: () => {
      first = undefined
      size = 0
      for (const { cells } of columns) cells?.clear()
    },
  }
}

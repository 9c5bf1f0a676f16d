import { createHash } from 'node:crypto'
import type { Cell, ColumnType, Row } from '../core/column.ts'
import type { RowIdentity, Stream } from '../core/stream.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import { minuteOf } from './row-window.ts'

const HASH_LENGTH = 32

/**
 * Gives rows without an id their key: the minute of their time, what else never changes of them, and a number among those of
 * the same minute, in the order of their seconds and then of their remaining values. So two real, equal gifts of one second are
 * two rows, reading again adds none, a phone that appears later updates in place, and so does a time that comes with seconds
 * later. Pure; the order in which the rows came does not matter.
 *
 * The rows of a minute are read together: windows are whole minutes.
 */
export function identifyRows(
  stream: Stream,
  { of, timeColumn, keyColumn, occurrenceColumn }: RowIdentity,
  rows: readonly Row[],
  timeZone: string,
): readonly Row[] {
  const remaining = [...Object.keys(stream.columns), 'extra'].filter((name) => !of.includes(name))
  const others = of.filter((name) => name !== timeColumn)
  const groups = Map.groupBy(rows, (row) => {
    const minute = formatWallTime(minuteOf(row[timeColumn], timeZone) ?? 0).slice(0, 16)
    return [minute, ...others.map((name) => row[name] ?? '')].join('|')
  })
  return [...groups].flatMap(([shared, alike]) => {
    const equal = new Map<Cell | undefined, number>()
    return alike
      .sort((a, b) => compareBy([timeColumn, ...remaining], stream, a, b))
      .map((row, index) => {
        const occurrence = (equal.get(row[timeColumn]) ?? 0) + 1
        equal.set(row[timeColumn], occurrence)
        return { ...row, [keyColumn]: hashOf(`${shared}#${index + 1}`), [occurrenceColumn]: occurrence }
      })
  })
}

/** Value by value, NULL before every text; a JSON value counts as the values in it. */
function compareBy(names: readonly string[], stream: Stream, a: Row, b: Row): number {
  const [left, right] = [a, b].map((row) =>
    names.flatMap((name) => valuesOf(row[name] ?? null, stream.columns[name]?.type)),
  )
  for (const [index, value] of (left ?? []).entries()) {
    const other = right?.[index] ?? null
    if (value === other) continue
    if (value === null || other === null) return value === null ? -1 : 1
    return String(value) < String(other) ? -1 : 1
  }
  return 0
}

function valuesOf(cell: Cell, type: ColumnType | undefined): readonly Cell[] {
  if (typeof cell !== 'string' || type !== 'jsonb') return [cell]
  const values: Cell[] = []
  JSON.parse(cell, (_key, value: unknown) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      values.push(value)
    return value
  })
  return values
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
}

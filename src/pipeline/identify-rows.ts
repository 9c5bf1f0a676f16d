import { createHash } from 'node:crypto'
import type { Cell, ColumnType, Row } from '../core/column.ts'
import type { RowIdentity, Stream } from '../core/stream.ts'

const HASH_LENGTH = 32

/**
 * Gives rows without an id their key: what never changes of them, and a number among equal ones, in the order of their
 * remaining values. A value that cannot be read counts as its raw text. So two real, equal gifts of one second are two rows, reading again adds none, and a phone that appears
 * later updates in place. A row whose time cannot be read has its whole content as identity. Pure; the order in which the
 * rows came does not matter.
 *
 * Equal rows share their second, so windows of whole minutes never split them.
 */
export function identifyRows(stream: Stream, identity: RowIdentity, rows: readonly Row[]): readonly Row[] {
  const remaining = [...Object.keys(stream.columns), 'extra'].filter((name) => !identity.of.includes(name))
  const groups = Map.groupBy(rows, (row) => JSON.stringify(identityOf(row, stream, identity, remaining)))
  return [...groups].flatMap(([shared, equal]) =>
    equal
      .sort((a, b) => compareBy(remaining, stream, a, b))
      .map((row, index) => ({
        ...row,
        [identity.keyColumn]: hashOf(`${shared}#${index + 1}`),
        [identity.occurrenceColumn]: index + 1,
      })),
  )
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

function identityOf(row: Row, stream: Stream, identity: RowIdentity, remaining: readonly string[]): readonly unknown[] {
  const names = row[identity.timeColumn] === null ? [...identity.of, ...remaining] : identity.of
  return names.map((name) => row[name] ?? rawOf(row, stream, name))
}

/** A value that could not be read stands raw in `extra`, under its source name. */
function rawOf({ extra }: Row, { columns }: Stream, name: string): unknown {
  const source = columns[name]?.source
  if (source?.kind !== 'field' || typeof extra !== 'string') return null
  const raws: Readonly<Record<string, unknown>> = JSON.parse(extra)
  return Object.hasOwn(raws, source.field) ? [raws[source.field]] : null
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
}

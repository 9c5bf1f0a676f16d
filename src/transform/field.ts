import { type Cell, type Column, type Columns, type Row, unreadable } from '../core/column.ts'
import type { Page } from '../core/page.ts'
import type { Partition } from '../core/slice.ts'
import type { ItemFields, Rejection, Stream } from '../core/stream.ts'
import { exactJson } from './exact-json.ts'

/** An item that became a row. */
export interface ReadRow {
  readonly kind: 'row'
  readonly row: Row
  /** Fields whose value could not be read; it stands raw in `extra`. */
  readonly unreadFields: readonly string[]
  /** Fields that the spec does not know; they stand in `extra`. */
  readonly unknownFields: readonly string[]
}

/** What every item of a slice shares. */
export interface ItemContext {
  readonly partition: Partition
  /** The service's day, `YYYY-MM-DD`. */
  readonly serviceDay: string
}

/** Reads items of one slice. Pure: the same item gives the same answer. */
export type ItemReader = (item: unknown, page: Page) => ReadRow | Rejection

const noFields: readonly string[] = []

/** Compiles a stream's declaration into the function that reads its items (architecture, rows). */
export function itemReader(stream: Stream, context: ItemContext): ItemReader {
  const columns = Object.entries(stream.columns)
  const known = new Set([...stream.otherFields, ...fieldNames(stream.columns)])
  const toFields = stream.readItem ?? asObject

  return (item, page) => {
    const read = toFields(item, page)
    if (read.kind === 'rejected') return read
    const { fields } = read
    const objection = stream.checkItem?.(fields, context.partition)
    if (objection) return objection

    const row: Record<string, Cell> = {}
    let unread: string[] | undefined
    for (const [name, column] of columns) {
      const value = readColumn(column, fields, context)
      if (value === unreadable || (value === null && isRequired(column))) {
        const field = fieldOf(column)
        if (isRequired(column)) return rejection(field, `${field} is ${shown(fields[field])}, and a row needs it`)
        ;(unread ??= []).push(field)
      }
      row[name] = value === unreadable ? null : value
    }
    const unknown = unknownOf(fields, known)
    row.extra = extraOf(fields, unread, unknown)
    return { kind: 'row', row, unreadFields: unread ?? noFields, unknownFields: unknown ?? noFields }
  }
}

/** The names of the source fields that have a column. */
export function fieldNames(columns: Columns): readonly string[] {
  return Object.values(columns).flatMap(({ source }) => (source.kind === 'field' ? [source.field] : []))
}

export function rejection(path: string, reason: string): Rejection {
  return { kind: 'rejected', path, reason }
}

/** A value as a message shows it: short, one line. */
export function shown(value: unknown): string {
  const json = value === undefined ? 'missing' : exactJson(value)
  return json.length > 80 ? `${json.slice(0, 77)}…` : json
}

function asObject(item: unknown): ItemFields | Rejection {
  return isObject(item) ? { kind: 'fields', fields: item } : rejection('', `the item is ${shown(item)}, not an object`)
}

function isObject(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeof item === 'object' && item !== null && !Array.isArray(item)
}

function readColumn({ source }: Column, fields: Readonly<Record<string, unknown>>, context: ItemContext) {
  switch (source.kind) {
    case 'field':
      return source.parse(fields[source.field])
    case 'partition':
      return context.partition[source.part] ?? null
    case 'serviceDay':
      return context.serviceDay
    case 'constant':
      return source.value
    case 'computed':
      return null
  }
}

function isRequired({ source }: Column): boolean {
  return source.kind === 'field' && source.isRequired
}

function fieldOf({ source }: Column): string {
  return source.kind === 'field' ? source.field : ''
}

function unknownOf(fields: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): string[] | undefined {
  let unknown: string[] | undefined
  for (const name of Object.keys(fields)) if (!known.has(name)) (unknown ??= []).push(name)
  return unknown
}

function extraOf(
  fields: Readonly<Record<string, unknown>>,
  unread: readonly string[] = noFields,
  unknown: readonly string[] = noFields,
): string | null {
  if (unread.length === 0 && unknown.length === 0) return null
  const names = [...unread, ...unknown].sort()
  return exactJson(Object.fromEntries(names.map((name) => [name, fields[name]])))
}

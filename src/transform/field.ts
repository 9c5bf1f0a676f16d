import { cleanText } from '../core/clean-text.ts'
import { type Cell, type Column, type Columns, unreadable } from '../core/column.ts'
import type { ItemContext, ItemReader, RejectedItem } from '../core/item.ts'
import type { Page } from '../core/page.ts'
import type { ItemFields, Rejection, Stream } from '../core/stream.ts'
import { exactJson } from './exact-json.ts'

const noFields: readonly string[] = []

/** Compiles a stream's declaration into the function that reads its items (architecture, rows). */
export function itemReader(stream: Stream, context: ItemContext): ItemReader {
  const columns = Object.entries(stream.columns)
  const known = new Set([...stream.otherFields, ...fieldNames(stream.columns)])
  const toFields = stream.readItem ?? asObject

  return (item, page) => {
    const read = toFields(item, page)
    if (read.kind === 'rejected') return withRaw(read, item, page)
    const { fields } = read
    const objection = stream.checkItem?.(fields, context.partition)
    if (objection) return withRaw(objection, item, page)

    const row: Record<string, Cell> = {}
    let unread: string[] | undefined
    for (const [name, column] of columns) {
      const value = readColumn(column, fields, context)
      if (value === unreadable || (value === null && isRequired(column))) {
        const field = fieldOf(column)
        if (isRequired(column)) {
          return withRaw(rejection(field, `${field} is ${shown(fields[field])}, and a row needs it`), item, page)
        }
        ;(unread ??= []).push(field)
      }
      row[name] = value === unreadable ? null : value
    }
    const unknown = unknownOf(fields, known)
    row.extra = extraOf(fields, unread, unknown)
    return { kind: 'row', row, unreadFields: unread ?? noFields, unknownFields: unknown?.map(cleanText) ?? noFields }
  }
}

/** The names of the source fields that have a column. */
export function fieldNames(columns: Columns): readonly string[] {
  return Object.values(columns).flatMap(({ source }) => (source.kind === 'field' ? [source.field] : []))
}

export function rejection(path: string, reason: string): Rejection {
  return { kind: 'rejected', path, reason }
}

function withRaw(found: Rejection, item: unknown, { title }: Page): RejectedItem {
  return { ...found, raw: exactJson(item), headers: title === undefined ? null : exactJson(title) }
}

/** A value as a message shows it: short, one line. */
export function shown(value: unknown): string {
  const json = value === undefined ? 'missing' : exactJson(value)
  return json.length > 80 ? `${json.slice(0, 77)}…` : json
}

function asObject(item: unknown): ItemFields | Rejection {
  return isObject(item) ? { kind: 'fields', fields: item } : rejection('', `the item is ${shown(item)}, not an object`)
}

export function isObject(item: unknown): item is Readonly<Record<string, unknown>> {
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

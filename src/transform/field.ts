import { cleanText, isObject, withoutPhones } from '../core/text.ts'
import { type Cell, type Column, type Columns } from '../core/column.ts'
import type { ItemReader, Page, RejectedItem } from '../core/page.ts'
import type { Partition } from '../core/slice.ts'
import type { ItemFields, Rejection, Stream } from '../core/stream.ts'

/** What every item of a slice shares. */
interface ItemContext {
  readonly partition: Partition
  /** The service's day, `YYYY-MM-DD`. */
  readonly serviceDay: string
}

/** Compiles a stream's declaration into the function that reads its items. */
export function itemReader(stream: Stream, context: ItemContext): ItemReader {
  const columns = columnsToRead(stream)
  const blank = blankRow(stream.columns, context)
  const known = new Set([...stream.otherFields, ...fieldNames(stream.columns)])
  const toFields = stream.readItem ?? asObject

  return (item, page) => {
    const read = toFields(item, page.title)
    if (read.kind === 'rejected') return withRaw(read, item, page)
    const { fields } = read
    const objection = stream.checkItem?.(fields, context.partition)
    if (objection) return withRaw(objection, item, page)

    // A copy has its columns in place: to add them one by one takes several times as long.
    const row: Record<string, Cell> = { ...blank }
    const unread: string[] = []
    for (const { name, field, parse, isRequired, isIdentity } of columns) {
      const value = parse(fields[field])
      if (value === null || value === undefined) {
        if (isRequired || (isIdentity && value === undefined)) {
          return withRaw(rejection(field, `${field} is ${shown(fields[field])}, and a row needs it`), item, page)
        }
        if (value === undefined) unread.push(field)
      } else row[name] = value
    }
    const unknown: string[] = []
    for (const name in fields) if (!known.has(name)) unknown.push(name)
    if (unread.length + unknown.length === 0) return { kind: 'row', row, unreadFields: unread, unknownFields: unknown }
    row.extra = extraOf(fields, [...unread, ...unknown])
    return { kind: 'row', row, unreadFields: unread, unknownFields: unknown.map(cleanText) }
  }
}

/**
 * The columns that are read from the item. `isIdentity`: it tells rows without an id apart; then what cannot be read is
 * no row, but nothing may stand there.
 */
function columnsToRead({ columns, identity }: Stream) {
  return Object.entries(columns).flatMap(([name, { source }]) => {
    if (source.kind !== 'field') return []
    const { field, parse, isRequired } = source
    return [{ name, field, parse, isRequired, isIdentity: identity?.of.includes(name) ?? false }]
  })
}

/** What every row of a slice begins with: the values that no item gives, and none for all others. */
function blankRow(columns: Columns, context: ItemContext): Readonly<Record<string, Cell>> {
  const values = Object.entries(columns).map(([name, column]) => [name, givenValue(column, context)] as const)
  return { ...Object.fromEntries<Cell>(values), extra: null }
}

/** The names of the source fields that have a column. */
export function fieldNames(columns: Columns): readonly string[] {
  return Object.values(columns).flatMap(({ source }) => (source.kind === 'field' ? [source.field] : []))
}

export function rejection(path: string, reason: string): Rejection {
  return { kind: 'rejected', path, reason }
}

function withRaw(found: Rejection, item: unknown, { title }: Pick<Page, 'title'>): RejectedItem {
  return { ...found, raw: exactJson(item), headers: title === undefined ? null : exactJson(title) }
}

/** A value as a message shows it: short, one line. */
export function shown(value: unknown): string {
  const json = value === undefined ? 'missing' : withoutPhones(exactJson(value))
  return json.length > 80 ? `${json.slice(0, 77)}…` : json
}

function asObject(item: unknown): ItemFields | Rejection {
  return isObject(item) ? { kind: 'fields', fields: item } : rejection('', `the item is ${shown(item)}, not an object`)
}

function givenValue({ source }: Column, context: ItemContext): Cell {
  switch (source.kind) {
    case 'partition':
      return context.partition[source.part] ?? null
    case 'serviceDay':
      return context.serviceDay
    case 'constant':
      return source.value
    case 'field':
    case 'computed':
      return null
  }
}

function extraOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  return exactJson(Object.fromEntries(names.toSorted().map((name) => [name, fields[name]])))
}

/** Postgres' numbers end at 131,072 digits; longer ones than this stand as text. */
const MOST_DIGITS = 1000

/**
 * JSON text that Postgres takes as `jsonb` and that keeps every digit: bigints are written as numbers, and text is
 * cleaned of what Postgres cannot hold (also in keys). For values of an answer, which are at most 200 levels deep.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint')
      return part.toString().length > MOST_DIGITS ? part.toString() : JSON.rawJSON(`${part}`)
    if (typeof part === 'string') return cleanText(part)
    return cleanKeys(part)
  })
}

function cleanKeys(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part) || JSON.isRawJSON(part)) return part
  const entries = Object.entries(part)
  return entries.every(([key]) => cleanText(key) === key)
    ? part
    : Object.fromEntries(entries.map(([key, inner]) => [cleanText(key), inner]))
}

import { isIP } from 'node:net'
import type { Cell, Column, Columns, FieldParser } from '../core/column.ts'
import type { ItemReader, Page, RejectedItem } from '../core/page.ts'
import type { Partition } from '../core/slice.ts'
import type { ItemFields, Rejection, Stream } from '../core/stream.ts'
import { cleanText, exactJson, isObject, printable, withoutPhones } from '../core/text.ts'
import { isWallTime } from '../core/wall-clock.ts'

/** The context that all items of a slice share. */
interface ItemContext {
  readonly partition: Partition
  /** The service's day, `YYYY-MM-DD`. */
  readonly serviceDay: string
}

/** Compiles a stream's declaration into a function that reads its items. */
export function itemReader(stream: Stream, context: ItemContext): ItemReader {
  const columns = columnsToRead(stream)
  const cells = Object.entries(stream.columns).map(([name, column]) => [name, givenValue(column, context)] as const)
  // Every row of a slice starts with the values that do not come from the item, and NULL in the other columns.
  const blank = { ...Object.fromEntries<Cell>(cells), extra: null }
  const knownFields = new Set([...stream.otherFields, ...fieldNames(stream.columns)])
  const toFields = stream.readItem ?? asObject

  return (item, page) => {
    const read = toFields(item, page.title)
    if (read.kind === 'rejected') return withRaw(read, item, page)
    const { fields } = read
    const objection = stream.checkItem?.(fields, context.partition)
    if (objection) return withRaw(objection, item, page)

    // Copying a row with all columns is several times as fast as adding the columns one by one.
    const row: Record<string, Cell> = { ...blank }
    const unreadFields: string[] = []
    for (const { name, field, parse, isRequired, isIdentity } of columns) {
      const value = parse(fields[field])
      if (value === null || value === undefined) {
        if (isRequired || (isIdentity && value === undefined)) {
          return withRaw(rejection(field, `${field} is ${quote(fields[field])}, and a row needs it`), item, page)
        }
        if (value === undefined) unreadFields.push(field)
      } else row[name] = value
    }
    const unknownFields: string[] = []
    for (const name in fields) if (!knownFields.has(name)) unknownFields.push(name)
    if (unreadFields.length + unknownFields.length === 0) return { kind: 'row', row, unreadFields, unknownFields }
    const extra = [...unreadFields, ...unknownFields].toSorted().map((name) => [name, fields[name]])
    row.extra = exactJson(Object.fromEntries(extra))
    return { kind: 'row', row, unreadFields, unknownFields: unknownFields.map(cleanText) }
  }
}

/**
 * The columns that are read from the item. `isIdentity`: the column identifies rows without an id, so an item whose
 * value cannot be read is rejected; the value may be missing.
 */
function columnsToRead({ columns, identity }: Stream) {
  return Object.entries(columns).flatMap(([name, { source }]) => {
    if (source.kind !== 'field') return []
    const { field, parse, isRequired } = source
    return [{ name, field, parse, isRequired, isIdentity: identity?.of.includes(name) ?? false }]
  })
}

/** The names of the source fields that have a column. */
export function fieldNames(columns: Columns): readonly string[] {
  return Object.values(columns).flatMap(({ source }) => (source.kind === 'field' ? [source.field] : []))
}

export function rejection(path: string, reason: string): Rejection {
  return { kind: 'rejected', path, reason }
}

export function withRaw(rejected: Rejection, item: unknown, { title }: Pick<Page, 'title'>): RejectedItem {
  return { ...rejected, raw: exactJson(item), headers: title === undefined ? null : exactJson(title) }
}

/** Formats a value for a message: on one line, shortened, and without phone numbers. */
export function quote(value: unknown): string {
  const json = value === undefined ? 'missing' : withoutPhones(exactJson(value))
  return json.length > 80 ? `${json.slice(0, 77)}…` : json
}

/** Names the type of an item without its contents, as those may be personal data, and reasons are logged. */
export function kindOf(item: unknown): string {
  if (Array.isArray(item)) return 'an array'
  return item === null ? 'null' : typeof item === 'object' ? 'an object' : `a ${typeof item}`
}

function asObject(item: unknown): ItemFields | Rejection {
  return isObject(item) ? { kind: 'fields', fields: item } : rejection('', `the item is ${kindOf(item)}, not an object`)
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

/** Makes the parser of a field. For every type, a value that is missing, null or an empty text is read as null. */
function orNone<T>(read: (raw: unknown) => T | null | undefined): FieldParser<T> {
  return (raw) => (raw === null || raw === undefined || raw === '' ? null : read(raw))
}

/** Text as it is. A number becomes its digits, because the service mixes ids as numbers and as text. */
export const text = orNone<string>((raw) => {
  if (typeof raw === 'string') return cleanText(raw) || null
  return typeof raw === 'number' || typeof raw === 'bigint' ? String(raw) : undefined
})

/** An index entry holds under 3 kB. The ids that the spec describes are far shorter. */
const MAX_ID_LENGTH = 255

/** Text of a key. Undefined if it is longer than 255 characters, or has some that `printable` escapes. */
export const identifier: FieldParser<string> = (raw) => {
  const id = text(raw)
  return typeof id === 'string' && (id.length > MAX_ID_LENGTH || printable(id) !== id) ? undefined : id
}

const MAX_SMALLINT = 32_767
const MAX_INTEGER = 2_147_483_647
const MAX_BIGINT = 9_223_372_036_854_775_807n
const INTEGER_TEXT = /^-?\d{1,19}$/

/** A JSON integer or its digits as text. */
function integerUpTo(max: number): FieldParser<number> {
  return orNone((raw) => {
    const value = typeof raw === 'string' && INTEGER_TEXT.test(raw) ? Number(raw) : raw
    // Adding 0 turns -0 into 0.
    return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= max ? value + 0 : undefined
  })
}

/** An integer column of 4 bytes. */
export const integer = integerUpTo(MAX_INTEGER)

/** An integer column of 2 bytes. */
export const smallint = integerUpTo(MAX_SMALLINT)

/** An integer of 8 bytes as decimal digits, exact beyond 2^53. */
export const bigint = orNone<string>((raw) => {
  const digits = typeof raw === 'number' && !Number.isSafeInteger(raw) ? '' : decimalSource(raw)
  if (!INTEGER_TEXT.test(digits)) return undefined
  const value = BigInt(digits)
  return value > MAX_BIGINT || value < -MAX_BIGINT - 1n ? undefined : value.toString()
})

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true'].map((raw) => [raw, true] as const),
  ...[false, 0, '0', 'false'].map((raw) => [raw, false] as const),
])

/** A boolean: true, false, 1 or 0, or one of these as text (the service mixes them). */
export const flag = orNone<boolean>((raw) => flags.get(raw))

/** An IPv4 or IPv6 address for a Postgres `inet`, without a zone, a port or a mask. */
export const ipAddress = orNone<string>((raw) =>
  typeof raw === 'string' && isIP(raw) !== 0 && !raw.includes('%') ? raw : undefined,
)

const MONEY = /^(-?)0*(\d{1,12})(?:\.(\d{1,2})0*)?$/
const DECIMAL = /^-?\d{1,38}(?:\.\d{1,38})?$/

/**
 * A `numeric(14,2)` amount as decimal text with two decimals, never a float. Amounts with thousands separators, or with
 * a third decimal other than zero, are not read, because their meaning would be a guess.
 */
export const money = orNone<string>((raw) => {
  const parts = MONEY.exec(decimalSource(raw))
  if (!parts) return undefined
  const amount = `${parts[2]}.${(parts[3] ?? '').padEnd(2, '0')}`
  return parts[1] === '-' && /[1-9]/.test(amount) ? `-${amount}` : amount
})

/** A `numeric` of any scale as decimal text. */
export const decimal = orNone<string>((raw) => {
  const source = decimalSource(raw)
  return DECIMAL.test(source) ? source : undefined
})

function decimalSource(raw: unknown): string {
  return typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'bigint' ? String(raw) : ''
}

const twoDigits = (text: string, place: number) => text.charCodeAt(place) * 10 + text.charCodeAt(place + 1) - 528
const DURATION = /^\d{1,7}:[0-5]\d:[0-5]\d$/

/**
 * `HH:MM:SS` as whole seconds, also beyond 24 hours: `125:03:09` is 450189. A bare number is not read, because the
 * service counts seconds in some places and minutes in others.
 */
export const durationText = orNone<number>((raw) => {
  if (typeof raw !== 'string' || !DURATION.test(raw)) return undefined
  const hours = raw.length === 8 ? twoDigits(raw, 0) : Number(raw.slice(0, -6))
  const seconds = hours * 3600 + twoDigits(raw, raw.length - 5) * 60 + twoDigits(raw, raw.length - 2)
  return seconds <= MAX_INTEGER ? seconds : undefined
})

/** A count of seconds, or `HH:MM:SS` (`online_time` comes in both forms, API 2.4 and 2.5). Never negative. */
export const durationSeconds: FieldParser<number> = (raw) => {
  const seconds = typeof raw === 'string' && raw.includes(':') ? durationText(raw) : integer(raw)
  return typeof seconds === 'number' && seconds < 0 ? undefined : seconds
}

/** The values by which databases and languages represent a missing time. */
const ZERO_DATE = /^(?:0000-00-00|0001-01-01)/
const TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/

/**
 * A point in time for Postgres: `YYYY-MM-DD HH:MM:SS` on the service's wall clock, or with the offset of the value.
 * Times to the minute get `:00`. Zero dates are read as null; dates that do not exist cannot be read.
 */
export const pointInTime = orNone<string>((raw) => {
  if (typeof raw !== 'string') return undefined
  // Nearly all times already have the form that Postgres gets.
  if (raw.length === 19 && raw[10] === ' ' && raw > '0002' && isWallTime(raw)) return raw
  if (ZERO_DATE.test(raw)) return null
  const parts = TIME.exec(raw)
  if (!parts) return undefined
  const wall = `${parts[1]} ${parts[2]}:${parts[3] ?? '00'}`
  return isWallTime(wall) ? withOffset(`${wall}${parts[4] ?? ''}`, parts[5]) : undefined
})

/** A date in the service's calendar, `YYYY-MM-DD`. It may be followed by midnight, but by no other time. */
export const calendarDate = orNone<string>((raw) => {
  if (typeof raw !== 'string') return undefined
  if (ZERO_DATE.test(raw)) return null
  const date = raw.replace(/[ T]00:00(?::00)?$/, '')
  return date.length === 10 && isWallTime(date) ? date : undefined
})

function withOffset(wall: string, offset: string | undefined): string | undefined {
  if (offset === undefined) return wall
  if (offset === 'Z') return `${wall}+00:00`
  const digits = offset.replace(':', '')
  const [hours, minutes] = [Number(digits.slice(1, 3)), Number(digits.slice(3))]
  return hours <= 15 && minutes < 60 ? `${wall}${digits.slice(0, 3)}:${digits.slice(3)}` : undefined
}

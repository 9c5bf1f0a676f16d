import type { Stream } from './stream.ts'

/** Makes text storable in Postgres: removes U+0000, and replaces lone surrogates with U+FFFD. */
export function cleanText(raw: string): string {
  return (raw.includes('\u0000') ? raw.replaceAll('\u0000', '') : raw).toWellFormed()
}

/** Control characters except line feed and tab (ECMA-48), and those that change the text direction (Unicode UAX 9). */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Escapes text for a terminal, so that the service's names and messages cannot move the cursor, or recolour or reorder
 * the text around them. Characters are escaped as `\u001b`, which means the same inside JSON text.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A mobile number of mainland China, with or without the country code. */
const PHONE = /(?<![\w.])((?:\+?86[ -]?)?1[3-9]\d)\d{8}(?!\w)/g

/** Masks phone numbers in text from the service that a message quotes: only the first three digits remain. */
export function withoutPhones(text: string): string {
  return text.replace(PHONE, '$1********')
}

/** Decodes percent-encoding (RFC 3986); undefined if `text` is malformed or does not decode to UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Adapts a Postgres URL to the driver; undefined if the driver would misread it. */
export function parsePostgresUrl(given: string): string | undefined {
  const url = URL.parse(given)
  // The driver accepts a bare % in a password, but not in the name of a host or a database.
  const parts = [url?.hostname ?? '', url?.pathname ?? '', given.replace(/%(?![\da-f]{2})/gi, '%25')]
  const isReadable = parts.every((part) => decodePercent(part) !== undefined)
  // An unencoded /, ? or # in a password ends the authority early: the @ and the real host are then in one of these.
  const isCut = [url?.pathname, url?.search, url?.hash].some((part) => /@[^&]*[:/]/.test(part ?? ''))
  if (!isReadable || isCut || !/^postgres(ql)?:$/.test(url?.protocol ?? '')) return undefined
  // Unless it is told to follow libpq, the driver treats these as verify-full, after a warning of eight lines.
  if (given.includes('uselibpqcompat=true')) return given
  return given.replace(/(?<=[?&]sslmode=)(prefer|require|verify-ca)\b/, 'verify-full')
}

/** Writes a parsed JSON value as text. Bigints become numbers. */
export function jsonText(value: unknown): string {
  try {
    // Without a replacer it throws on bigints, but takes a tenth of the time.
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'bigint' ? JSON.rawJSON(part.toString()) : part,
    )
  }
}

/**
 * Writes a value from an answer (at most 200 levels deep) as JSON text for a `jsonb` column. Bigints become numbers
 * with all their digits; text and keys are cleaned of characters that Postgres cannot store.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    // A number in Postgres has at most 131,072 digits; those with over 1,000 are written as text.
    if (typeof part === 'bigint') return part.toString().length > 1000 ? part.toString() : JSON.rawJSON(`${part}`)
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

/** Whether a parsed JSON value is an object, not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * An item as text for comparisons, with only the fields that its stream declares: others, such as the time of the
 * answer, may differ each time. An empty text, a null and a missing field compare equal.
 */
export function itemText({ columns, readItem }: Stream, item: unknown): string {
  if (readItem !== undefined || !isObject(item)) return jsonText(item)
  const fields = Object.values(columns).flatMap(({ source }) => (source.kind === 'field' ? [source.field] : []))
  return jsonText(fields.map((field) => (item[field] === '' ? null : (item[field] ?? null))))
}

/** Whether two answers hold the same items in the same order. */
export function areSameItems(stream: Stream, items: readonly unknown[], others: readonly unknown[]): boolean {
  // Item by item, because two pages nearly always differ in their first items.
  const isSame = (item: unknown, index: number) => itemText(stream, item) === itemText(stream, others[index])
  return items.length === others.length && items.every(isSame)
}

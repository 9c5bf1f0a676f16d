import type { Stream } from './stream.ts'

/** What Postgres can hold: U+0000 removed, lone surrogates replaced by U+FFFD. */
export function cleanText(raw: string): string {
  return (raw.includes('\u0000') ? raw.replaceAll('\u0000', '') : raw).toWellFormed()
}

/** Control characters but for line feed and tab (ECMA-48), and what turns the direction of text (Unicode UAX 9). */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Text as a terminal may show it: a service's names and messages must not move the cursor, recolour or reorder what
 * stands around them. Such characters stand as `\u001b`, which within JSON text means the same.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A mainland mobile number by itself or behind the country's code. */
const PHONE = /(?<![\w.])((?:\+?86[ -]?)?1[3-9]\d)\d{8}(?!\w)/g

/** A service's words or values as a message may quote them: of phone numbers only the first three digits stay. */
export function withoutPhones(text: string): string {
  return text.replace(PHONE, '$1********')
}

/** What percent-encoding stands for (RFC 3986); undefined where it is not UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A URL of Postgres, for its driver; undefined where that would not read it as it is meant. */
export function parsePostgresUrl(given: string): string | undefined {
  const url = URL.parse(given)
  // The driver takes a bare % of a password as it is, but fails with one of a name.
  const parts = [url?.pathname ?? '', given.replace(/%(?![\da-f]{2})/gi, '%25')]
  const isReadable = parts.every((part) => decodePercent(part) !== undefined)
  // A password with an @ before one of these would end there, and the rest be looked up as a host.
  const isCut = [url?.pathname, url?.search, url?.hash].some((part) => /@[^&]*[:/]/.test(part ?? ''))
  if (!isReadable || isCut || !/^postgres(ql)?:$/.test(url?.protocol ?? '')) return undefined
  // Without libpq's meaning, these are verify-full to the driver, which warns of that in eight lines.
  if (given.includes('uselibpqcompat=true')) return given
  return given.replace(/(?<=[?&]sslmode=)(prefer|require|verify-ca)\b/, 'verify-full')
}

/** A JSON value as text. For values that were read from JSON, and bigints, which are written as numbers. */
export function jsonText(value: unknown): string {
  try {
    // It refuses bigints; without any it takes a tenth of the time.
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'bigint' ? JSON.rawJSON(part.toString()) : part,
    )
  }
}

/**
 * JSON text that Postgres takes as `jsonb` and that keeps every digit: bigints are written as numbers, and text is
 * cleaned of what Postgres cannot hold (also in keys). For values of an answer, which are at most 200 levels deep.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    // Postgres' numbers end at 131,072 digits; longer ones than 1,000 stand as text.
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

/** Whether a value of JSON is an object, and no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * An item as text, by the fields that its stream declares. Answers are compared by these only: other fields may differ
 * each time, such as the time of the answer. An empty text, a null and a missing field are the same.
 */
export function itemText({ columns, readItem }: Stream, item: unknown): string {
  if (readItem !== undefined || !isObject(item)) return jsonText(item)
  const fields = Object.values(columns).flatMap(({ source }) => (source.kind === 'field' ? [source.field] : []))
  return jsonText(fields.map((field) => (item[field] === '' ? null : (item[field] ?? null))))
}

/** Whether two answers hold the same items in the same order. */
export function sameItems(stream: Stream): (items: readonly unknown[], others: readonly unknown[]) => boolean {
  // Item by item: on nearly every page the first ones differ already.
  return (items, others) =>
    items.length === others.length && items.every((item, at) => itemText(stream, item) === itemText(stream, others[at]))
}

import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { allStreams } from '../../streams/registry.ts'

/** Replaces a value by text of the same shape; equal values get equal text. */
export type Disguise = (value: string) => string

/**
 * Creates a disguise that nobody can reverse once the key is thrown away. Digits become digits, ASCII letters become
 * letters of the same case, all other letters and symbols become placeholders. Punctuation and white space stay, so
 * lengths and odd formats stay too. Mobile phone numbers become numbers that no network assigns, IP addresses become
 * reserved ones (RFC 2544, RFC 3849).
 */
export function createDisguise(key: Uint8Array): Disguise {
  return (value) => {
    let disguised = value
    // A short value may come out unchanged by chance.
    for (let attempt = 0; disguised === value && attempt < 9; attempt += 1) {
      const hash = createHash('shake256', { outputLength: value.length + 8 }).update(key)
      disguised = reshape(value, hash.update(`${attempt}:${value}`).digest())
    }
    return disguised
  }
}

function reshape(value: string, bytes: Buffer): string {
  const digits = Array.from(bytes, (byte) => byte % 10).join('')
  if (/^1\d{10}$/.test(value)) return `100${digits.slice(0, 8)}`
  const version = isIP(value)
  if (version === 4) return `198.18.${bytes[0]}.${bytes[1]}`
  if (version === 6) return `2001:db8::${bytes.toString('hex', 0, 2)}`
  return value.replaceAll(/[^\s\p{P}]/gu, (letter, index: number) => {
    const byte = bytes[index] ?? 0
    // A first digit other than 0 does not become 0, so a number keeps its length.
    if (/\d/.test(letter)) return letter === '0' && index === 0 ? '0' : `${index === 0 ? 1 + (byte % 9) : byte % 10}`
    if (/[a-z]/.test(letter)) return String.fromCodePoint(97 + (byte % 26))
    if (/[A-Z]/.test(letter)) return String.fromCodePoint(65 + (byte % 26))
    return letter.length === 2 ? '🟦' : '字'
  })
}

/** Parses JSON and keeps the text of each number, so that `JSON.stringify` writes it unchanged. */
export function parseAsWritten(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
  )
}

/** Fields of an answer, outside of its items, whose numbers are kept. */
const envelope = new Set([
  'errcode',
  'code',
  'flag',
  ...allStreams.flatMap(({ wire: { envelope: parts } }) =>
    [parts?.total, parts?.page, parts?.size].flatMap((path) => path?.split('.').at(-1) ?? []),
  ),
])

/**
 * Disguises everything in an answer but the numbers of its envelope, the service's messages (apart from what looks like
 * an id), and the numbers 0 and 1, which are mostly flags. `path`: the fields that lead to `value`; `isInItem`: whether
 * it is in an array.
 */
export function disguiseBody(
  value: unknown,
  disguise: Disguise,
  path: readonly string[] = [],
  isInItem = false,
): unknown {
  const field = path.at(-1) ?? ''
  const isKept = (text: string) => text === '' || (!isInItem && envelope.has(field) && /^-?\d{1,10}$/.test(text))
  if (typeof value === 'string') {
    const isMessage = !isInItem && /^(msg|message)$/.test(field)
    if (isMessage) return value.replace(/[\w-]*\d[\w-]{3,}|[\w-]{20,}/g, disguise)
    return isKept(value) ? value : disguise(value)
  }
  if (JSON.isRawJSON(value)) {
    const text = value.rawJSON
    return JSON.rawJSON(isKept(text) || /^[01]$/.test(text) ? text : text.replace(/\d+/g, disguise))
  }
  if (Array.isArray(value)) return value.map((inner) => disguiseBody(inner, disguise, path, true))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => {
    // The keys of deeper objects may be names of people.
    const isName = path.length < 2 && /^[A-Za-z_]{1,40}$/.test(name)
    return [isName ? name : disguise(name), disguiseBody(inner, disguise, [...path, name], isInItem)] as const
  })
  return Object.fromEntries(entries)
}

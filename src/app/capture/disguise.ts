import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { allStreams } from '../../streams/registry.ts'

/** What a value is replaced by: text of the same shape, always the same for the same value. */
export type Disguise = (value: string) => string

/**
 * Makes a disguise from a key that is thrown away, so that it cannot be undone. Digits stand for digits, ASCII
 * letters for letters of the same case, placeholders for all other letters and symbols; punctuation stands as it is, so
 * lengths and odd formats remain. Mobile phone numbers become ones that no network gives out, addresses those that are
 * reserved for examples (RFC 2544, RFC 3849).
 */
export function createDisguise(key: Uint8Array): Disguise {
  return (value) => {
    let made = value
    // A short one may be drawn as itself.
    for (let attempt = 0; made === value && attempt < 9; attempt += 1) {
      const hash = createHash('shake256', { outputLength: value.length + 8 }).update(key)
      made = reshape(value, hash.update(`${attempt}:${value}`).digest())
    }
    return made
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
    // A number keeps its number of digits.
    if (/\d/.test(letter)) return letter === '0' && index === 0 ? '0' : `${index === 0 ? 1 + (byte % 9) : byte % 10}`
    if (/[a-z]/.test(letter)) return String.fromCodePoint(97 + (byte % 26))
    if (/[A-Z]/.test(letter)) return String.fromCodePoint(65 + (byte % 26))
    return letter.length === 2 ? '🟦' : '字'
  })
}

/** JSON with every number as the text that it was written as, so that `JSON.stringify` writes it again just so. */
export function parseAsWritten(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
  )
}

/** Numbers of the answer itself, around its items. */
const envelope = new Set([
  'errcode',
  'code',
  'flag',
  ...allStreams.flatMap(({ wire: { envelope: parts } }) =>
    [parts?.total, parts?.page, parts?.size].flatMap((path) => path?.split('.').at(-1) ?? []),
  ),
])

/**
 * An answer in which everything is disguised but the numbers of its envelope, words of the service itself without what
 * looks like an id in them, and 0 and 1, which flags are. `path`: the fields that lead to `value`; `isInItem`: it
 * stands within an array.
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
    // Farther in, objects may be kept by the names of people.
    const isName = path.length < 2 && /^[A-Za-z_]{1,40}$/.test(name)
    return [isName ? name : disguise(name), disguiseBody(inner, disguise, [...path, name], isInItem)] as const
  })
  return Object.fromEntries(entries)
}

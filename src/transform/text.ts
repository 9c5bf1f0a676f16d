import { cleanText, printable } from '../core/clean-text.ts'
import { unreadable } from '../core/column.ts'

/** Text as it came; numbers become their digits (the service is loose about ids), empty text becomes null. */
export function text(raw: unknown): string | null | typeof unreadable {
  if (typeof raw === 'string') return cleanText(raw) || null
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'number' || typeof raw === 'bigint') return String(raw)
  return unreadable
}

/** An index holds some thousand bytes a row; no id that the spec describes comes near. */
const LONGEST_ID = 255

/** Text that is part of a key. Longer than 255 characters, or with characters that no terminal may show, it is none. */
export function identifier(raw: unknown): string | null | typeof unreadable {
  const id = text(raw)
  return typeof id === 'string' && (id.length > LONGEST_ID || printable(id) !== id) ? unreadable : id
}

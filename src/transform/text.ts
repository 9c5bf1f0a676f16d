import { unreadable } from '../core/column.ts'

/** What Postgres can hold: U+0000 removed, lone surrogates replaced by U+FFFD. */
export function cleanText(raw: string): string {
  return (raw.includes('\u0000') ? raw.replaceAll('\u0000', '') : raw).toWellFormed()
}

/** Text as it came; numbers become their digits (the service is loose about ids), empty text becomes null. */
export function text(raw: unknown): string | null | typeof unreadable {
  if (typeof raw === 'string') return cleanText(raw) || null
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'number' || typeof raw === 'bigint') return String(raw)
  return unreadable
}

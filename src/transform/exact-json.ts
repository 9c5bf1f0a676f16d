import { cleanText } from '../core/clean-text.ts'

/** Postgres' numbers end at 131,072 digits; longer ones than this stand as text. */
const MOST_DIGITS = 1000

/**
 * JSON text that Postgres takes as `jsonb` and that keeps every digit: bigints are written as numbers, and text is
 * cleaned of what Postgres cannot hold (also in keys). For values of an answer, which are at most 200 levels deep.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint') return exactNumber(part.toString())
    if (typeof part === 'string') return cleanText(part)
    return cleanKeys(part)
  })
}

function exactNumber(digits: string): unknown {
  return digits.length > MOST_DIGITS ? digits : JSON.rawJSON(digits)
}

function cleanKeys(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part) || JSON.isRawJSON(part)) return part
  const entries = Object.entries(part)
  return entries.every(([key]) => cleanText(key) === key)
    ? part
    : Object.fromEntries(entries.map(([key, inner]) => [cleanText(key), inner]))
}

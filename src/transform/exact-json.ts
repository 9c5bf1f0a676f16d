import { cleanText } from './text.ts'

/**
 * JSON text that Postgres takes as `jsonb` and that keeps every digit: bigints are written as numbers, text is cleaned of
 * what Postgres cannot hold (also in keys).
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint') return JSON.rawJSON(part.toString())
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

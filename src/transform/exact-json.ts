import { cleanText } from '../core/clean-text.ts'
import { jsonText } from '../core/json-text.ts'

/** Postgres refuses `jsonb` that is some thousand levels deep; below this a value stands as its text. */
const DEEPEST = 200
/** Postgres' numbers end at 131,072 digits; longer ones than this stand as text. */
const MOST_DIGITS = 1000

/**
 * JSON text that Postgres takes as `jsonb` and that keeps every digit: bigints are written as numbers, text is cleaned
 * of what Postgres cannot hold (also in keys), and what lies deeper than 200 levels stands as text of its JSON. Never
 * throws.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(isDeeper(value, DEEPEST) ? fold(value, DEEPEST) : value, (_key, part: unknown) => {
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

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

function fold(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return jsonText(value)
  if (Array.isArray(value)) return value.map((inner: unknown) => fold(inner, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fold(inner, levels - 1)]))
}

import { type FieldParser, unreadable } from '../core/column.ts'

const MAX_SMALLINT = 32_767
const MAX_INTEGER = 2_147_483_647
const MAX_BIGINT = 9_223_372_036_854_775_807n
const INTEGER_TEXT = /^-?\d{1,19}$/

/** An integer column of 4 bytes: a JSON integer or its digits as text. */
export const integer: FieldParser<number> = (raw) => within(raw, MAX_INTEGER)

/** An integer column of 2 bytes. */
export const smallint: FieldParser<number> = (raw) => within(raw, MAX_SMALLINT)

/** An integer of 8 bytes as exact decimal digits, also beyond 2^53. */
export const bigint: FieldParser<string> = (raw) => {
  if (isNone(raw)) return null
  const value = exactInteger(raw)
  if (value === undefined) return unreadable
  return value > MAX_BIGINT || value < -MAX_BIGINT - 1n ? unreadable : value.toString()
}

function within(raw: unknown, max: number): number | null | typeof unreadable {
  if (typeof raw === 'number') return Number.isInteger(raw) && Math.abs(raw) <= max ? raw + 0 : unreadable
  if (isNone(raw)) return null
  const value = typeof raw === 'string' && INTEGER_TEXT.test(raw) ? Number(raw) : raw
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= max ? value + 0 : unreadable
}

function exactInteger(raw: unknown): bigint | undefined {
  if (typeof raw === 'bigint') return raw
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? BigInt(raw) : undefined
  return typeof raw === 'string' && INTEGER_TEXT.test(raw) ? BigInt(raw) : undefined
}

function isNone(raw: unknown): boolean {
  return raw === null || raw === undefined || raw === ''
}

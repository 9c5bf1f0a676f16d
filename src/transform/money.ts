import { unreadable } from '../core/column.ts'

const MONEY = /^(-?)0*(\d{1,12})(?:\.(\d{1,2}))?$/
const DECIMAL = /^-?\d{1,38}(?:\.\d{1,38})?$/

/**
 * A `numeric(14,2)` amount as decimal text with two decimals, never a float. Three decimals or thousands separators are
 * not guessed at.
 */
export function money(raw: unknown): string | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  const parts = MONEY.exec(decimalSource(raw))
  if (!parts) return unreadable
  const amount = `${parts[2]}.${(parts[3] ?? '').padEnd(2, '0')}`
  return parts[1] === '-' && /[1-9]/.test(amount) ? `-${amount}` : amount
}

/** A `numeric` of any scale as decimal text. */
export function decimal(raw: unknown): string | null | typeof unreadable {
  if (raw === null || raw === undefined || raw === '') return null
  const source = decimalSource(raw)
  return DECIMAL.test(source) ? source : unreadable
}

function decimalSource(raw: unknown): string {
  return typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'bigint' ? String(raw) : ''
}

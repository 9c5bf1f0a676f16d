/**
 * Numbers that a double may not hold exactly: sixteen digits in a row (a decimal point counts), or an exponent of three.
 * Text and dates can look like that too; then the page is only parsed more slowly.
 */
const suspicious = /[\d.]{16,}|\d[eE][+-]?\d{3}/

/**
 * Parses JSON without losing digits: integers beyond 2^53 become `bigint`, decimals that a double would change become their
 * source text. The slower way is taken only where the text has such digits.
 * @throws SyntaxError whose message quotes the text: never pass it on.
 */
export function parseExact(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text)
  return JSON.parse(text, exactNumber)
}

/** A reviver; the third parameter is there (ECMAScript, JSON.parse source text access), though the library's types lack it. */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source)
  return isKept(value, source) ? value : source
}

/** Whether the double says the same as its source: 15 significant digits always survive (IEEE 754). */
function isKept(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  const [mantissa = ''] = source.split(/[eE]/)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  if (value === 0) return digits === ''
  return digits.length <= 15 || String(value) === source
}

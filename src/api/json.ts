/** A double holds any number of 15 digits (IEEE 754). */
const LONG = 16
/** Exponents that can lead beyond the range of a double; hexadecimal ids hold such digits too. */
const farExponent = /\d[eE][+-]?\d{3}/g

/**
 * Parses JSON without losing digits: integers beyond 2^53 become `bigint`, decimals that a double would change become their
 * source text. The slower way is taken only where the text has such digits.
 * @throws SyntaxError whose message quotes the text: never pass it on.
 */
export function parseExact(text: string): unknown {
  if (!hasLongNumber(text) && !hasFarExponent(text)) return JSON.parse(text)
  return JSON.parse(text, exactNumber)
}

/**
 * Whether a number of 16 digits (a decimal point counts) may stand in the text; where a text only looks like that, the page is
 * parsed more slowly and just as well. Such a run covers one of every 16 places, so only those are looked at: a regular
 * expression takes longer than the parser itself.
 */
function hasLongNumber(text: string): boolean {
  for (let place = LONG - 1; place < text.length; place += LONG) {
    if (!isDigit(text, place)) continue
    let start = place
    while (isDigit(text, start - 1)) start -= 1
    let end = place + 1
    while (isDigit(text, end)) end += 1
    if (end - start >= LONG && mayBeginNumber(text, start)) return true
  }
  return false
}

/** Whether a number with an exponent of three digits may stand in the text: what precedes the `e` decides, back to where it begins. */
function hasFarExponent(text: string): boolean {
  for (const { index } of text.matchAll(farExponent)) {
    let start = index
    while (isDigit(text, start - 1)) start -= 1
    if (mayBeginNumber(text, start)) return true
  }
  return false
}

/** A number stands behind a colon, a comma, a bracket, white space, its sign, or nothing; ids stand in quotes. */
function mayBeginNumber(text: string, place: number): boolean {
  switch (text.charCodeAt(place - 1)) {
    case 0x3a:
    case 0x2c:
    case 0x5b:
    case 0x2d:
    case 0x20:
    case 0x0a:
    case 0x0d:
    case 0x09:
      return true
    default:
      return place === 0
  }
}

function isDigit(text: string, place: number): boolean {
  const code = text.charCodeAt(place)
  return (code >= 48 && code <= 57) || code === 46
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

/**
 * What a double may not hold (IEEE 754): a number of 16 digits or dots, or with an exponent of three digits; ids stand
 * in quotes. Where a text only looks like that, the page is parsed more slowly and just as well.
 */
const LONG_NUMBER = /(?:^|[:,[\s-])(?:[\d.]{16}|[\d.]+[eE][+-]?\d{3})/
/** A number of more digits than any column holds stays text: to make an integer of a million digits takes minutes. */
const LONGEST_NUMBER = 100

/** Characters; a page of 100 visitors has a quarter of this. Only larger bodies are checked before they are parsed. */
const LARGE_BODY = 1 << 18
/** A page of 50 signups with 200 answers each holds 10,000. */
const MOST_VALUES = 200_000
/** What recurses ends with an overflow a few thousand levels down, and Postgres refuses such `jsonb`. */
const DEEPEST = 200

/**
 * Parses JSON without losing digits: integers beyond 2^53 become `bigint`, decimals that a double would change and
 * numbers of over 100 characters become their source text. The slower way is taken only where the text has such digits.
 * @throws SyntaxError whose message quotes the text: never pass it on.
 */
export function parseExact(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
}

/**
 * Why a body is not parsed: to build millions of values takes seconds and gigabytes, and recursion overflows.
 * @returns undefined for a body of up to 200,000 values and 200 levels
 */
export function findExcess(text: string): string | undefined {
  // Each level has a bracket of its own, and nearly no page has so many: to look at every character takes longer.
  if (text.length < LARGE_BODY && countOf('{', text) + countOf('[', text) <= DEEPEST) return undefined
  let values = 0
  let depth = 0
  for (let place = 0; place < text.length; place += 1) {
    switch (text[place]) {
      case '"':
        place = endOfString(text, place)
        break
      case '[':
      case '{':
        values += 1
        depth += 1
        break
      case ']':
      case '}':
        depth -= 1
        break
      case ',':
        values += 1
        break
      default:
    }
    if (values > MOST_VALUES) return `it holds more than ${MOST_VALUES} values`
    if (depth > DEEPEST) return `its values are nested deeper than ${DEEPEST} levels`
  }
  return undefined
}

function countOf(part: string, text: string): number {
  let count = 0
  for (let place = text.indexOf(part); place >= 0; place = text.indexOf(part, place + 1)) count += 1
  return count
}

/** Where the string that begins at `place` ends; the end of the text where it does not. */
function endOfString(text: string, place: number): number {
  let end = place + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end
}

/** A reviver; the types lack its third parameter (ECMAScript, JSON.parse source text access). */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  if (source.length > LONGEST_NUMBER) return source
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

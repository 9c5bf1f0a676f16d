import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import { allStreams } from '../../streams/registry.ts'
import { fieldNames } from '../../transform/field.ts'

/** Stands for a value: of the same shape, the same for the same value wherever it comes, and never the value itself. */
export type Disguise = (value: string) => string

/** Placeholders that no name is made of: the heavenly stems and earthly branches. */
const HAN = Array.from('甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥')
const SYMBOLS = Array.from('◆◇★☆')
/** Of two UTF-16 units, as most emoji are. */
const WIDE_SYMBOLS = Array.from('🟦🟩🟥🟨')
const LOWER = Array.from('abcdefghijklmnopqrstuvwxyz')
const OTHER_LOWER = Array.from('éèêëàâîïôûçñ')
const DIGITS = Array.from('0123456789')
/** A few possibilities may all be taken; then two values share one. */
const MOST_ATTEMPTS = 50

/**
 * Makes a disguise from a key that nobody keeps, so that it cannot be turned back. Digits stand for digits, letters for letters
 * of the same case and script, and everything else stands as it is, so lengths and odd formats remain. Mobile phone numbers become
 * ones that no network gives out, addresses those that the documents reserve for examples (RFC 2544, RFC 3849).
 */
export function createDisguise(key: Uint8Array): Disguise {
  const known = new Map<string, string>()
  const taken = new Set<string>()
  return (value) => {
    const before = known.get(value)
    if (before !== undefined) return before
    let made = value
    for (let attempt = 0; attempt < MOST_ATTEMPTS && (made === value || taken.has(made)); attempt += 1) {
      made = reshape(value, drawFrom(key, `${attempt}:${value}`))
    }
    known.set(value, made)
    taken.add(made)
    return made
  }
}

/** A choice among so many. */
type Draw = (count: number) => number

function drawFrom(key: Uint8Array, seed: string): Draw {
  let block = 0
  let bytes = Buffer.alloc(0)
  return (count) => {
    if (bytes.length < 4) bytes = createHmac('sha256', key).update(`${block++}:${seed}`).digest()
    const number = bytes.readUInt32BE()
    bytes = bytes.subarray(4)
    return number % count
  }
}

function reshape(value: string, draw: Draw): string {
  if (/^1\d{10}$/.test(value)) return `100${Array.from({ length: 8 }, () => draw(10)).join('')}`
  const version = isIP(value)
  if (version === 4) return `198.${18 + draw(2)}.${draw(256)}.${1 + draw(254)}`
  const isHex = /^[0-9a-f:]+$/.test(value)
  const shaped = Array.from(value, (letter, index) => reshapeLetter(letter, index, isHex, draw)).join('')
  return version === 6 ? shaped.replace(/^[^:]*:[^:]*:/, '2001:db8:') : shaped
}

function reshapeLetter(letter: string, index: number, isHex: boolean, draw: Draw): string {
  const pick = (choices: readonly string[]): string => choices[draw(choices.length)] ?? letter
  // Punctuation stays, also what counts as a pictograph or as Chinese besides (‼ 〰).
  if (/[\s\p{P}]/u.test(letter)) return letter
  // A number keeps its number of digits.
  if (/\d/.test(letter)) return letter === '0' && index === 0 ? '0' : pick(index === 0 ? DIGITS.slice(1) : DIGITS)
  if (/[a-z]/.test(letter)) return pick(isHex ? LOWER.slice(0, 6) : LOWER)
  if (/[A-Z]/.test(letter)) return pick(LOWER).toUpperCase()
  const isHan = /\p{Script=Han}/u.test(letter)
  const isTelling = /[\p{L}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}]/u.test(letter)
  if (letter.length === 2 && isHan) return String.fromCodePoint(0x20000 + draw(256))
  if (letter.length === 2) return isTelling ? pick(WIDE_SYMBOLS) : letter
  if (isHan) return pick(HAN)
  if (/\p{Lu}/u.test(letter)) return pick(OTHER_LOWER).toUpperCase()
  if (/[\p{L}\p{N}]/u.test(letter)) return pick(OTHER_LOWER)
  return isTelling ? pick(SYMBOLS) : letter
}

/** JSON with every number as the text that it was written as, so that `JSON.stringify` writes it again just so. */
export function parseAsWritten(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value,
  )
}

/**
 * An answer in which everything is disguised but what is known to tell nothing about a person: what the documents call
 * counts, times, durations, kinds and amounts, and the words of the answer itself around its items. Fields that the documents do
 * not know are disguised, with their names.
 */
export function disguiseBody(body: unknown, disguise: Disguise): unknown {
  return disguiseValue(body, [], disguise)
}

/** `path`: the names of the fields that lead to the value; an array adds an empty one. */
function disguiseValue(value: unknown, path: readonly string[], disguise: Disguise): unknown {
  const field = path.at(-1) ?? ''
  const isEnvelope = !path.includes('') && (path.length === 1 || (path.length === 2 && envelopes.has(path[0] ?? '')))
  if (typeof value === 'string') {
    if (isEnvelope && messages.has(field)) return value.replace(codes, disguise)
    return isHarmless(field, value, isEnvelope) ? value : disguise(value)
  }
  if (JSON.isRawJSON(value)) return disguiseNumber(value.rawJSON, field, isEnvelope, disguise)
  if (Array.isArray(value)) return disguiseArray(value, path, disguise)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => {
    return [isFieldName(name, path) ? name : disguise(name), disguiseValue(inner, [...path, name], disguise)] as const
  })
  return Object.fromEntries(entries)
}

/** A field of the answer or of an item may be new; farther in, objects may be kept by the names of people. */
function isFieldName(name: string, path: readonly string[]): boolean {
  const isItem = path.at(-1) === '' && path.indexOf('') === path.length - 1
  return fields.has(name) || ((path.length === 0 || isItem) && /^[A-Za-z_]{1,40}$/.test(name))
}

function disguiseNumber(text: string, field: string, isEnvelope: boolean, disguise: Disguise): unknown {
  // Flags are 0 and 1 throughout.
  if (isHarmless(field, text, isEnvelope) || /^[01]$/.test(text)) return JSON.rawJSON(text)
  return JSON.rawJSON(text.replace(/\d+/g, (digits) => disguise(digits)))
}

function disguiseArray(values: readonly unknown[], path: readonly string[], disguise: Disguise): unknown[] {
  const place = path.join('/')
  return values.map((value, index) => {
    const isLast = index === values.length - 1
    // Headers of signups (API 2.9): the fixed columns are the interface's, the others are an operator's words.
    if (place === 'title' && (index < 3 || isLast) && !hasNumber(value)) return value
    // Cells of a signup: behind the answers stands its time.
    if (place === 'data/' && isLast && typeof value === 'string' && isTime(value)) return value
    // Items are known by their fields; what stands in an array by itself is known by nothing.
    return disguiseValue(value, [...path, ''], disguise)
  })
}

/** Whether it could be a phone number or an id. */
function hasNumber(value: unknown): boolean {
  return typeof value !== 'string' || /\d{4}/.test(value)
}

function isHarmless(field: string, text: string, isEnvelope: boolean): boolean {
  if (text === '') return true
  if (numbers.has(field) || (isEnvelope && counts.has(field)))
    return /^-?[\d.:,]{1,12}$/.test(text) && !/^1\d{10}$/.test(text)
  if (times.has(field)) return isTime(text) || /^[\d:.]{1,12}$/.test(text)
  return kinds.has(field) && text.length <= 40
}

function isTime(text: string): boolean {
  return /^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}([ T][\d:.]+)?([+-][\d:]+|Z)?$/.test(text)
}

/** Of the answer itself, around its items: an item may have a field of the same name that holds anything. */
const counts = namesOf(
  'total_num total_page page_num page_size page_index size total p perPage count errcode code status flag',
)
/** Objects of the answer that hold no items (API 4.8, 4.9 and errors). */
const envelopes = namesOf('page errors')

const numbers = namesOf(`type position gift_id money status
  online_time watch_time live_time vod_time live_watch_time vod_watch_time ad_watch_time
  visit_times share_times comment_count act_num limit_type transfer_limit time_limit pay_type
  cost_limit_notification costLimit costTotalWatchTime costVodWatchTime costLiveWatchTime costTransfer`)

const times = namesOf(`first_login_time last_online_time uptime created_at create_date last_login_time
  last_push_stream_time`)

/** Display text of the service. */
const kinds = namesOf('device browser costType')

/** The service's own words; what looks like an id or a token in them is not. */
const messages = namesOf('msg message')
const codes = /[\w-]*\d[\w-]{3,}|[\w-]{20,}/g

/** Names that the documents know. */
const fields = new Set([
  ...[counts, envelopes, numbers, times, kinds, messages].flatMap((names) => [...names]),
  ...namesOf('results data title question_list access_token expire_time id'),
  ...allStreams.flatMap(({ columns, otherFields }) => [...fieldNames(columns), ...otherFields]),
])

function namesOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}

import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'

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

/** Keys that have come, by their hashes: 10 bytes a key instead of the 100 that a set of texts takes. */
export interface KeySet {
  /** @returns whether the key is new. */
  readonly add: (key: string) => boolean
  readonly has: (key: string) => boolean
  /** Makes room for so many keys at once, which is cheaper than growing. */
  readonly reserve: (count: number) => void
}

const FIRST_CAPACITY = 64
const FULLEST = 0.9
/** What a source announces is believed so far. */
const MOST_RESERVED = 4_000_000

/**
 * A set that tells keys apart by 64-bit hashes. Two keys of one hash among three million have a chance of one in four million;
 * the second counts as one that came twice, so the walk does not prove itself, is repeated, and then holds that key as text
 * (`startWalk`, suspects).
 */
export function createKeySet(): KeySet {
  let size = 0
  let capacity = FIRST_CAPACITY
  /** Two words a slot, signed, which the engine keeps as they are; an empty slot is two zeros. */
  let slots = new Int32Array(capacity * 2)
  let high = 0
  let low = 0

  /** Sets `high` and `low`: two MurmurHash3 of 32 bits over the code units, with other constants. */
  const hash = (key: string): void => {
    let a = 0x9747b28c ^ key.length
    let b = 0x3c6ef372 ^ key.length
    for (let index = 0; index < key.length; index += 2) {
      // Past the end there is NaN, which counts as 0 here; the length is part of the hash.
      const units = key.charCodeAt(index) | (key.charCodeAt(index + 1) << 16)
      let mixed = Math.imul(units, 0xcc9e2d51)
      mixed = Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
      a ^= mixed
      a = (Math.imul((a << 13) | (a >>> 19), 5) + 0xe6546b64) | 0
      mixed = Math.imul(units, 0x239b961b)
      mixed = Math.imul((mixed << 16) | (mixed >>> 16), 0xab0e9789)
      b ^= mixed
      b = (Math.imul((b << 17) | (b >>> 15), 5) + 0x561ccd1b) | 0
    }
    high = finish(a)
    low = finish(b ^ Math.imul(a, 0x38b34ae5))
    if (high === 0 && low === 0) low = 1
  }

  /** The slot of `high` and `low`, or the empty one where they belong. */
  const find = (): number => {
    let slot = Math.floor(((high >>> 0) / 4_294_967_296) * capacity)
    while (slots[slot * 2] !== high || slots[slot * 2 + 1] !== low) {
      if (slots[slot * 2] === 0 && slots[slot * 2 + 1] === 0) return slot
      slot = slot + 1 === capacity ? 0 : slot + 1
    }
    return slot
  }
  const put = (slot: number): void => {
    slots[slot * 2] = high
    slots[slot * 2 + 1] = low
  }
  const isEmpty = (slot: number): boolean => slots[slot * 2] === 0 && slots[slot * 2 + 1] === 0

  const grow = (next: number): void => {
    const old = slots
    capacity = next
    slots = new Int32Array(capacity * 2)
    for (let place = 0; place < old.length; place += 2) {
      high = old[place] ?? 0
      low = old[place + 1] ?? 0
      if (high !== 0 || low !== 0) put(find())
    }
  }

  return {
    add: (key) => {
      if (size >= capacity * FULLEST) grow(Math.ceil(capacity * 1.5))
      hash(key)
      const slot = find()
      if (!isEmpty(slot)) return false
      put(slot)
      size += 1
      return true
    },
    has: (key) => {
      hash(key)
      return !isEmpty(find())
    },
    reserve: (count) => {
      const needed = Math.ceil(Math.min(count, MOST_RESERVED) / FULLEST) + 1
      if (needed > capacity) grow(needed)
    },
  }
}

/** MurmurHash3's last step: every bit of the input changes every bit of the output. */
function finish(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

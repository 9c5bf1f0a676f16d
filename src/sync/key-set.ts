/** Keys that have come, by their hashes: 10 bytes a key instead of the 100 that a set of texts takes. */
export interface KeySet {
  /** @returns whether the key is new. */
  readonly add: (key: string) => boolean
  readonly has: (key: string) => boolean
}

const FIRST_SLOTS = 64
const FULLEST = 0.9
const GROWTH = 1.5

/**
 * A set that tells keys apart by 53-bit hashes. Among three million keys two have one hash with a chance of one in two thousand;
 * the second counts as one that came twice, so the walk does not prove itself, is repeated, and then holds that key as text
 * (`startWalk`, suspects).
 */
export function createKeySet(): KeySet {
  let size = 0
  /** Open addressing: a hash lies in its slot or in the next free one; an empty slot is 0. */
  let slots = new Float64Array(FIRST_SLOTS)

  const find = (hash: number): number => {
    let slot = Math.floor((hash / 2 ** 53) * slots.length)
    while (slots[slot] !== 0 && slots[slot] !== hash) slot = slot + 1 === slots.length ? 0 : slot + 1
    return slot
  }
  const grow = (): void => {
    const full = slots
    slots = new Float64Array(Math.ceil(full.length * GROWTH))
    for (const hash of full) if (hash !== 0) slots[find(hash)] = hash
  }
  return {
    add: (key) => {
      if (size >= slots.length * FULLEST) grow()
      const hash = hashOf(key)
      const slot = find(hash)
      if (slots[slot] === hash) return false
      slots[slot] = hash
      size += 1
      return true
    },
    has: (key) => {
      const hash = hashOf(key)
      return slots[find(hash)] === hash
    },
  }
}

/** The published hash cyrb53, from 1 to 2 ** 53 - 1. */
function hashOf(key: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (low & 0x1fffff) * 2 ** 32 + (high >>> 0) || 1
}

/** A small seeded generator (mulberry32): the same labels give the same numbers on every machine. */
export type Random = ReturnType<typeof createRandom>

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

export function createRandom(...labels: readonly (string | number)[]) {
  let state = hashText(labels.join('/'))
  /** In [0, 1). */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  /** A whole number in [from, to]. */
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    between,
    chance: (probability: number): boolean => next() < probability,
    pick: <Item>(items: readonly [Item, ...Item[]]): Item => items[between(0, items.length - 1)] ?? items[0],
    hash: (length: number): string => Array.from({ length }, () => ALPHABET[between(0, ALPHABET.length - 1)]).join(''),
    exponential: (mean: number): number => -Math.log(1 - next()) * mean,
  }
}

/** FNV-1a, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

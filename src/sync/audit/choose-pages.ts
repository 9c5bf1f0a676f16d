/**
 * `count` different numbers from 0 to `total` - 1, in order; all of them where there are no more. The same seed chooses the same.
 */
export function choosePages(total: number, count: number, seed: number): readonly number[] {
  if (count >= total) return Array.from({ length: total }, (_, index) => index)
  const random = randomOf(seed)
  const chosen = new Set<number>()
  // Floyd's way: as many draws as numbers, however many there are to choose from.
  for (let bound = total - count; bound < total; bound++) {
    const number = Math.floor(random() * (bound + 1))
    chosen.add(chosen.has(number) ? bound : number)
  }
  return [...chosen].sort((a, b) => a - b)
}

/** Numbers in [0, 1) by mulberry32: no matter of secrets, only of choosing again what was chosen. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

import { randomInt } from 'node:crypto'
import * as fc from 'fast-check'

/** Checks a law on random cases, other ones each time; the seed is printed, so that any run can be repeated. */
export function checkProperty<Case>(
  law: string,
  property: fc.IProperty<Case>,
  { runs = 100, seed = randomInt(2 ** 31 - 1) }: { readonly runs?: number; readonly seed?: number } = {},
): void {
  process.stdout.write(`${law}: seed ${seed}\n`)
  fc.assert(property, { numRuns: runs, seed })
}

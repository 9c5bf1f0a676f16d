import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Window } from '../../../src/core/slice.ts'
import { MINUTE } from '../../../src/core/wall-clock.ts'
import { narrowDifference } from '../../../src/sync/audit/narrow-difference.ts'

const everything = { from: 0, to: 10_000 * MINUTE }
const limits = { smallRows: 3, mostBoundaries: 1000 }
const within = (minutes: readonly number[], { from, to }: Window) => minutes.filter((at) => at >= from && at < to)

/** Two lists of minutes; the source tells how many lie before one, off by those of its first second where ends are not known. */
function sidesOf(source: readonly number[], held: readonly number[], blurred: readonly number[] = []) {
  let asked = 0
  const before = async (at: number) => {
    asked++
    const fewest = source.filter((minute) => minute < at).length
    return { at, fewest, most: fewest + (blurred.includes(at) ? source.filter((minute) => minute === at).length : 0) }
  }
  const holdings = {
    count: async (_column: string, window = everything) => ({ rows: within(held, window).length, quarantined: 0 }),
    minuteAt: async (_column: string, window: Window, place: number) =>
      within(held, window).toSorted((a, b) => a - b)[place],
    quarantined: new Set<string>(),
  }
  const sides = { holdings, counts: { before } }
  return { sides, asked: () => asked }
}

async function narrow(
  source: readonly number[],
  held: readonly number[],
  blurred: readonly number[] = [],
  over = limits,
) {
  const { sides, asked } = sidesOf(source, held, blurred)
  const bounds = [await sides.counts.before(everything.from), await sides.counts.before(everything.to)] as const
  return { suspects: await narrowDifference(...bounds, 'at', sides, over), asked: asked() }
}

/** With other cases each time; fast-check prints the seed of one that fails. */
async function always<Case>(cases: fc.Arbitrary<Case>, law: (one: Case) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(cases, law))
}

const minutes = fc
  .array(fc.nat(9_999), { minLength: 1, maxLength: 300 })
  .map((list) => list.map((each) => each * MINUTE))

test('equal lists are equal after the two ends, whatever they hold', async () => {
  await always(minutes, async (list) => {
    expect(await narrow(list, list)).toEqual({ suspects: [], asked: 2 })
  })
})

test('one row that is missing is named to a small range with a few questions', async () => {
  await always(fc.tuple(minutes, fc.nat()), async ([source, pick]) => {
    const place = pick % source.length
    const { suspects, asked } = await narrow(source, source.toSpliced(place, 1))
    expect(suspects).toHaveLength(1)
    const [{ window, rows } = { window: everything, rows: 0 }] = suspects
    expect(rows).toBe(1)
    expect(within([source[place] ?? 0], window)).toHaveLength(1)
    const inside = within(source, window).length
    expect(inside <= limits.smallRows || window.to - window.from === MINUTE || inside === 1).toBe(true)
    expect(asked).toBeLessThan(60)
  })
})

test('every difference that does not cancel out is in a suspect range, on both sides, and the counts add up', async () => {
  const changes = fc.tuple(minutes, fc.array(fc.nat(), { maxLength: 8 }), fc.array(fc.nat(9_999), { maxLength: 8 }))
  await always(changes, async ([source, removed, added]) => {
    const kept = source.filter((_, index) => !removed.some((pick) => pick % source.length === index))
    const held = [...kept, ...added.map((each) => each * MINUTE)]
    const { suspects } = await narrow(source, held)
    const sum = suspects.reduce((total, { rows }) => total + rows, 0)
    expect(sum).toBe(source.length - held.length)
    for (const { window, rows } of suspects)
      expect(rows).toBe(within(source, window).length - within(held, window).length)
  })
})

test('what the ends of the filter leave open is never called a difference', async () => {
  await always(fc.tuple(minutes, fc.array(fc.nat(9_999))), async ([list, blurred]) => {
    const { suspects } = await narrow(list, list, [everything.to, ...blurred.map((each) => each * MINUTE)])
    expect(suspects).toEqual([])
  })
})

test('a range of which the warehouse holds nothing is named as a whole, and questions are bounded', async () => {
  const source = Array.from({ length: 5000 }, (_, index) => index * MINUTE)
  const { suspects } = await narrow(source, [])
  expect(suspects).toEqual([{ window: everything, sourceRows: 5000, rows: 5000 }])
  const everySecond = source.filter((_, index) => index % 2 === 0)
  const { asked } = await narrow(source, everySecond, [], { ...limits, mostBoundaries: 10 })
  expect(asked).toBeLessThanOrEqual(12)
})

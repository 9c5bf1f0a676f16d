import { expect } from 'vitest'
import type { Window } from '../../src/core/slice.ts'
import { DAY, parseWallTime, type WallTime } from '../../src/core/wall-clock.ts'
import type { ScriptedExtraction } from './extract-scripted.ts'

const DAYS = 30
const to = parseWallTime('2026-11-20 14:30') ?? 0
/** Holds them all. */
export const historyWindow: Window = { from: parseWallTime('2015-01-01') ?? 0, to }
export const HISTORY_ROWS = 30_000

/** Numbers that look like chance, the same each time. */
function scatter(index: number): number {
  let bits = Math.imul(index + 1, 2_654_435_761)
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d)
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39)
  return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32
}

/** When the rows of a channel came to be. */
export const histories: Readonly<Record<'even' | 'bursts', readonly WallTime[]>> = {
  even: Array.from({ length: HISTORY_ROWS }, (_, index) => to - 1 - Math.floor((index * DAYS * DAY) / HISTORY_ROWS)),
  // Nine evenings of two hours, of different sizes, and a little in between.
  bursts: Array.from({ length: HISTORY_ROWS }, (_, index) => {
    const evening = Math.floor(Math.sqrt(scatter(index) * 81))
    const within = scatter(index + HISTORY_ROWS)
    if (index % 50 === 0) return to - 1 - Math.floor(within * DAYS * DAY)
    return to - 4 * DAY + evening * 7200 - evening * 3 * DAY + Math.floor(within * 7200)
  }),
}

const shuffled = (times: readonly WallTime[]) =>
  times
    .map((time, index) => ({ time, at: scatter(index * 7 + 3) }))
    .sort((a, b) => a.at - b.at)
    .map(({ time }) => time)

/** Orders in which a service may serve them. */
export const orders: Readonly<
  Record<'descending' | 'ascending' | 'no order', (times: readonly WallTime[]) => readonly WallTime[]>
> = {
  descending: (times) => times.toSorted((a, b) => b - a),
  ascending: (times) => times.toSorted((a, b) => a - b),
  'no order': shuffled,
}

/** Each row was read and counted, and the slices are the window, once each minute. */
export function expectWhole({ slices, loaded }: ScriptedExtraction, rows: number): void {
  const windows = slices.map((slice) => slice.window).toSorted((a, b) => a.from - b.from)
  expect(windows[0]?.from).toBe(historyWindow.from)
  expect(windows.at(-1)?.to).toBe(historyWindow.to)
  for (const [index, next] of windows.slice(1).entries()) expect(next.from).toBe(windows[index]?.to)
  const isClean = (proof: string) => proof === 'verified' || proof === 'unverifiable'
  expect(slices.map(({ extraction }) => extraction.verdict.proof).filter((proof) => !isClean(proof))).toEqual([])
  expect(loaded.size).toBe(rows)
}

/** As received, slice by slice. */
export function rowsOf({ slices }: ScriptedExtraction): readonly number[] {
  return slices.map(({ extraction }) => extraction.summary.received)
}

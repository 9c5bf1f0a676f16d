import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY } from '../../src/core/wall-clock.ts'
import { rereadParts } from '../../src/sync/sync-tuning.ts'
import { checkProperty } from '../helpers/check-property.ts'

const today = 20_777

test('within so many days all of the history is read again, each part of it once', () => {
  checkProperty(
    'a rolling re-read',
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1500 }), (days, age) => {
      const from = (today - age) * DAY + 3600
      const read = new Map<number, number>()
      // The history grows by a day each night; what is counted is that of the first.
      for (let night = 0; night < days; night++) {
        const now = (today + night) * DAY + 7200
        for (const part of rereadParts({ from, to: today * DAY }, now, days)) {
          for (let hour = part.from; hour < part.to; hour += 3600) read.set(hour, (read.get(hour) ?? 0) + 1)
        }
      }
      const hours = Array.from({ length: (today * DAY - from) / 3600 }, (_, index) => from + index * 3600)
      // Where the blocks grow in the middle, what lies between may have had its turn twice or not at all: once in years.
      const sizes = new Set([0, days - 1].map((night) => Math.floor(Math.log2(Math.max(1, (age + 1 + night) / days)))))
      return sizes.size > 1 || (read.size === hours.length && [...read.values()].every((times) => times === 1))
    }),
    { runs: 50 },
  )
})

test('a night reads a few long parts, however long the history is', () => {
  for (const age of [10, 100, 1000, 5000]) {
    for (let night = 0; night < 30; night++) {
      const parts = rereadParts({ from: (today - age) * DAY, to: today * DAY }, (today + night) * DAY, 30)
      expect(parts.length).toBeLessThanOrEqual(3)
    }
  }
})

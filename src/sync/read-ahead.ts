import pLimit from 'p-limit'
import type { Clock } from '../core/clock.ts'

/**
 * How far the lists that are read at once may be read ahead. Together they hold no more than so many pages, however many they
 * are; and of long ones only a few are read at once: more of them would fetch no faster, but each would hold rows that wait
 * for a batch to fill.
 *
 * Pages that have come and wait are rows in memory, which the collector of garbage copies again and again. So where pages come
 * sooner than they can be read, few are asked for ahead; where they have to be waited for, as many as may be.
 */
export interface ReadAhead {
  /** Resolves when a list of so many pages may be read beyond its first. */
  readonly begin: (pages: number) => Promise<Reader>
}

export interface Reader {
  /** How many pages may be asked for or held now, the next one included. */
  readonly room: () => number
  /** Waits for the next page, and learns from how long that takes. */
  readonly next: <T>(page: Promise<T>) => Promise<T>
  readonly end: () => void
}

const LONG_PAGES = 10
const LONG_AT_ONCE = 3
/** Over all lists, where pages come at once: enough for all to be busy, at 10 ms a call too. */
const LEAST_PAGES = 8
/** A page that took so long was waited for; */
const SLOW_MS = 10
/** and one that took less was there. */
const QUICK_MS = 2

/** @param most pages over all lists */
export function createReadAhead(most: number, clock: Clock): ReadAhead {
  const longLimit = pLimit(LONG_AT_ONCE)
  const least = Math.min(most, LEAST_PAGES)
  let readers = 0
  let ahead = most
  const learn = (waitedMs: number): void => {
    if (waitedMs >= SLOW_MS) ahead = Math.min(most, ahead * 2)
    else if (waitedMs < QUICK_MS) ahead = Math.max(least, ahead - 1)
  }
  /** Resolves when one more long list may be read; the function that it resolves to ends that. */
  const beginLong = async (): Promise<() => void> => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    void longLimit(() => {
      begin()
      return ended
    })
    await begun
    return end
  }
  return {
    begin: async (pages) => {
      const endLong = pages > LONG_PAGES ? await beginLong() : () => {}
      readers += 1
      return {
        room: () => Math.max(1, Math.floor(ahead / readers)),
        next: async (page) => {
          const sinceMs = clock.now()
          const value = await page
          learn(clock.now() - sinceMs)
          return value
        },
        end: () => {
          readers -= 1
          endLong()
        },
      }
    },
  }
}

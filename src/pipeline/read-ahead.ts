import { createTurns } from './turns.ts'

/**
 * How far the lists that are read at once may be read ahead. Together they hold no more than so many pages, however many they
 * are; and of long ones only a few are read at once: more of them would fetch no faster, but each would hold rows that wait
 * for a batch to fill.
 */
export interface ReadAhead {
  /** Resolves when a list of so many pages may be read beyond its first. */
  readonly begin: (pages: number) => Promise<Reader>
}

export interface Reader {
  /** How many pages may be asked for or held now, the next one included. */
  readonly room: () => number
  readonly end: () => void
}

const LONG_PAGES = 10
const LONG_AT_ONCE = 3

/** @param most pages over all lists */
export function createReadAhead(most: number): ReadAhead {
  const longTurns = createTurns(LONG_AT_ONCE)
  let readers = 0
  return {
    begin: async (pages) => {
      const endTurn = pages > LONG_PAGES ? await longTurns.take() : () => {}
      readers += 1
      return {
        room: () => Math.max(1, Math.floor(most / readers)),
        end: () => {
          readers -= 1
          endTurn()
        },
      }
    },
  }
}

import { notReady, type Readiness, readReadiness } from '../app/read-health.ts'
import { type Clock, within } from '../core/clock.ts'
import type { Db } from '../store/database.ts'

/** An answer is kept for so long, as the path is open to all. */
const KEPT_MS = 1000
/** How long a request for readiness or metrics waits for the database. */
export const LONGEST_ANSWER_MS = 3000

/** Asks the database each time, but no more than once a second, and gives it 3 seconds. Never throws. */
export function createReadiness({ db, clock }: { readonly db: Db; readonly clock: Clock }): () => Promise<Readiness> {
  let last: { readonly answer: Promise<Readiness>; readonly atMs: number } | undefined
  return async () => {
    const now = clock.now()
    if (last === undefined || now - last.atMs >= KEPT_MS)
      last = { answer: within(clock, LONGEST_ANSWER_MS, readReadiness(db), notReady), atMs: now }
    return await last.answer
  }
}

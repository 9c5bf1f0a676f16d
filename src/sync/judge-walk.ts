import type { Proof } from '../core/slice.ts'
import type { WalkSummary } from './walk.ts'

/** What a walk proves, and one sentence that says why where it is neither `verified` nor `unverifiable`. */
export interface Verdict {
  readonly proof: Exclude<Proof, 'agreed' | 'accepted' | 'failed'>
  readonly reason: string | undefined
  /** False where it is `short` because it did not come to rest: how many rows are missing is not known. */
  readonly isAtRest?: boolean
}

/**
 * Judges one walk over a list with a key. `verified`: the source's total was the same in every answer, and distinct and
 * quarantined items, as received, add up to it. It is a proof of the count.
 */
export function judgeWalk({ totals, received, distinct, rejected }: WalkSummary): Verdict {
  if (totals === undefined) return { proof: 'unverifiable', reason: undefined }
  const { first, smallest, largest } = totals
  if (smallest !== largest) {
    return { proof: 'moving', reason: `the source's total moved between ${smallest} and ${largest} while it was read` }
  }
  const accounted = distinct + rejected.length
  if (accounted === first) return { proof: 'verified', reason: undefined }
  const came = `${distinct} distinct and ${rejected.length} quarantined rows came, ${received - accounted} came twice`
  if (received < first) return { proof: 'short', reason: `the source says ${first}, but ${came}` }
  return { proof: 'moving', reason: `the source says ${first}; ${came}` }
}

import { LivehouseError } from '../core/errors.ts'
import { isDuplicate } from '../ledger/known-duplicates.ts'
import type { WalkSummary } from './walk.ts'

/** Below this many items a few bad ones say nothing about the interface. */
export const SMALLEST_SAMPLE = 20
const LARGEST_SHARE = 0.1

/**
 * Refuses a slice of which too much could not be read: that is a changed interface, not bad rows.
 * @throws LivehouseError `rows.unreadable`, with three sample reasons.
 */
export function requireReadable({ received, rejected: quarantined }: Pick<WalkSummary, 'received' | 'rejected'>): void {
  const rejected = quarantined.filter((item) => !isDuplicate(item))
  if (received < SMALLEST_SAMPLE || rejected.length <= received * LARGEST_SHARE) return
  const samples = [...new Set(rejected.map(({ reason }) => reason))].slice(0, 3)
  throw new LivehouseError(
    'rows.unreadable',
    `${rejected.length} of ${received} rows could not be read: ${samples.join('; ')}. They are kept in quarantine; ` +
      'the interface has probably changed (see `livehouse quarantine list`).',
    { rejected: rejected.length, received, samples },
  )
}

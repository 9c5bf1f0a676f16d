import type { Partition, Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { type Acceptance, isStanding } from '../../ledger/acceptances.ts'
import { type Difference, rowsOf } from './partition-audit.ts'

/** What operators have acknowledged, and how much of it one audit has already met with. */
export interface Allowance {
  /** Whether all these differences of a partition have been accepted: then that much less is left of it. */
  readonly take: (stream: Stream, partition: Partition, differences: readonly Difference[]) => boolean
}

/**
 * Only what the source withholds can have been accepted: where it was acknowledged, and up to its size over all partitions of
 * the channel together, as a sync takes it.
 */
export function createAllowance(acceptances: readonly Acceptance[], nowMs: number): Allowance {
  const standing = acceptances
    .filter((each) => isStanding(each, nowMs))
    .toSorted((a, b) => a.missingRows - b.missingRows)
  let taken: ReadonlyMap<string, number> = new Map()
  return {
    take: ({ name }, { channel = null }, differences) => {
      const ofChannel = standing.filter(({ stream, channelId }) => stream === name && channelId === channel)
      const next = new Map(taken)
      for (const difference of differences) {
        if (difference.kind !== 'withheld') return false
        const rows = rowsOf(difference)
        const room = ofChannel.find(
          (each) => meets(each, difference.window) && (next.get(each.acceptanceId) ?? 0) + rows <= each.missingRows,
        )
        if (room === undefined) return false
        next.set(room.acceptanceId, (next.get(room.acceptanceId) ?? 0) + rows)
      }
      taken = next
      return differences.length > 0
    },
  }
}

function meets({ windows }: Acceptance, window: Window | undefined): boolean {
  if (window === undefined) return windows.length === 0
  return windows.some(({ from, to }) => from < window.to && window.from < to)
}

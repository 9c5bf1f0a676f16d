import type { PartitionPlan } from './partitions.ts'
import type { Slice } from './slice-work.ts'

/** A partition whose slices are being read. */
export interface OpenPartition {
  readonly plan: PartitionPlan
  /** Slices that are waiting or in flight. */
  open: number
  /** Whether nothing more is asked of it in this run: the service ignores what is asked, or what was begun cannot be ended. */
  isGivenUp: boolean
  /** Whether the rest of it is for another day. */
  isWaiting: boolean
  /** Whether it is ours; undefined until that has been asked for. */
  lease: Promise<boolean> | undefined
  /** Whether its slices were planned when the lease was ours. */
  isPlannedUnderLease: boolean
}

/** Newest first: yesterday is there in minutes, and history fills in behind. */
export type SliceOrder = 'newest-first' | 'oldest-first'

/** The slices of a phase: whole walks first, then windows in their order. */
export interface WorkQueue {
  /** The next slice and its partition; undefined when nothing waits. */
  readonly take: () => { readonly slice: Slice; readonly partition: OpenPartition } | undefined
  /** Adds the parts of a slice that was cut. */
  readonly add: (slices: readonly Slice[], partition: OpenPartition) => void
  /** Takes out what waits of a partition. */
  readonly removeAll: (partition: OpenPartition) => readonly Slice[]
}

export function createWorkQueue(partitions: readonly OpenPartition[], order: SliceOrder): WorkQueue {
  interface Entry {
    readonly slice: Slice
    readonly partition: OpenPartition
  }
  const sign = order === 'newest-first' ? 1 : -1
  const rankOf = ({ slice: { window, pagesRead = 0 } }: Entry) =>
    window === undefined || pagesRead > 0 ? Number.POSITIVE_INFINITY : sign * window.to
  // Sorted so that the next one is the last: taking it is cheap.
  const entries = partitions
    .flatMap((partition) => partition.plan.slices.map((slice) => ({ slice, partition })))
    .toReversed()
    .sort((a, b) => rankOf(a) - rankOf(b))
  return {
    take: () => entries.pop(),
    add: (slices, partition) => {
      for (const slice of slices.toReversed()) {
        const entry = { slice, partition }
        const place = entries.findLastIndex((other) => rankOf(other) <= rankOf(entry))
        entries.splice(place + 1, 0, entry)
      }
    },
    removeAll: (partition) => {
      const removed = entries.filter((entry) => entry.partition === partition).map(({ slice }) => slice)
      const kept = entries.filter((entry) => entry.partition !== partition)
      entries.splice(0, entries.length, ...kept)
      return removed
    },
  }
}

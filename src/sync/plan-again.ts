import { partitionKey, placeOf, subtractWindows, type Window } from '../core/slice.ts'
import { isRefusedForDays, readOpenSlice } from '../ledger/open-slices.ts'
import { type CoverageFilter, readGaps } from '../ledger/slices/coverage.ts'
import { hasLandedSince } from '../ledger/slices/slices.ts'
import type { Db } from '../store/database.ts'
import type { PartitionPlan, Plans } from './plan-slices.ts'
import { partOf } from './slice-parts.ts'
import type { Slice } from './slice-work.ts'

/**
 * Plans the rest of a partition that another run held, without the slices that landed and began after this run did:
 * this run would have read the same. For a backfill, only its own slices are left out.
 */
export async function planAgain(
  db: Db,
  plan: PartitionPlan,
  begunAt: Date,
  timeZone: string,
): Promise<readonly Slice[]> {
  const partition = partitionKey(plan.partition)
  const { stream } = plan
  const remaining: Slice[] = []
  for (const slice of plan.slices) {
    const { window, backfillId } = slice
    if (window === undefined) {
      if (!(await hasLandedSince(db, placeOf(plan), begunAt))) remaining.push(slice)
      continue
    }
    const landed = backfillId === undefined ? { begunSince: begunAt } : { backfillId }
    const gapsIn = async (part: Window, filter: CoverageFilter) =>
      (await readGaps(db, stream.name, [{ partition, window: part }], filter)).get(partition) ?? [part]
    let gaps = await gapsIn(window, landed)
    // A slice with few calls a day may have begun days before this run. It counts for the range that is settled.
    const lookbackDays = slice.lookbackDays ?? stream.lookbackDays
    const settledFor = { lookbackDays, ofStream: stream.lookbackDays, timeZone }
    if (stream.isBudgeted && backfillId === undefined)
      gaps = (await Promise.all(gaps.map(async (gap) => await gapsIn(gap, { settledFor })))).flat()
    const parts = gaps.toReversed().map((gap) => partOf(slice, gap))
    // A part that covers nothing yet, because its rows are too young, is left to the next run.
    remaining.push(...parts.filter(({ covers }) => covers !== undefined))
  }
  return remaining
}

/**
 * Puts an open slice, which is read over days, first, and leaves its range out of the other slices: no other slice
 * begins before it has ended. If none of its pages has landed, only the sync or backfill that began it continues it.
 * @param abandoned the id of a backfill that starts over; an open slice of it is ignored
 */
export async function resumeOpenFirst(db: Db, plans: Plans, nowMs: number, abandoned?: string): Promise<Plans> {
  return await Promise.all(
    plans.map(async (plan) => {
      const { stream, partition } = plan
      const open = stream.isBudgeted ? await readOpenSlice(db, placeOf(plan)) : undefined
      if (open === undefined || (abandoned !== undefined && open.backfillId === abandoned)) return plan
      const { window, covers, backfillId, pagesRead } = open
      if (pagesRead === 0 && plan.slices.every((slice) => slice.backfillId !== backfillId)) return plan
      const turn = pagesRead === 0 || isRefusedForDays(open, nowMs) ? 'in turn' : 'first'
      const openSlice: Slice = { stream, partition, window, covers, backfillId, open: turn }
      // A backfill reads its range whatever a sync or another backfill has read.
      const others = plan.slices.flatMap((slice) =>
        slice.window === undefined || slice.backfillId !== backfillId
          ? [slice]
          : subtractWindows(slice.window, [window])
              .toReversed()
              .map((part) => partOf(slice, part)),
      )
      return { ...plan, slices: [openSlice, ...others] }
    }),
  )
}

/** Newest first lands yesterday within minutes, and the history after that. */
export type SliceOrder = 'newest-first' | 'oldest-first'

/**
 * The order of slices, highest first. `priority` orders all slices; partitions with few calls a day take turns, after
 * open slices that are not refused for days. `rank` orders the slices of a partition; an open one goes first.
 */
export function rankInQueue({ stream, window, open }: Slice, turn: number, order: SliceOrder) {
  const inTime = window && (order === 'newest-first' ? window.to : -window.to)
  const rank = open === undefined ? (inTime ?? Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
  const isInTurn = stream.isBudgeted === true && open !== 'first'
  return { priority: isInTurn ? -turn : rank, rank }
}

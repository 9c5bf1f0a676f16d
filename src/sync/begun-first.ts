import type { Kysely } from 'kysely'
import { partitionKey } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import { type OpenSlice, readOpenPartitions, readOpenSlice } from '../ledger/open-slices.ts'
import type { PartitionPlan } from './partitions.ts'
import { partOf } from './plan-again.ts'
import { subtractWindow } from './plan-windows.ts'
import type { Slice } from './slice-work.ts'

/**
 * The same plans, but where a slice has been begun that is read over days, it goes first, and what it reads is left out of the
 * others: nothing new is begun before it has ended. What the service refuses day after day goes last, so that it keeps no other
 * channel from its calls. `abandoned`: a backfill that is to be begun anew; what it has begun counts for nothing.
 */
export async function begunFirst(
  db: Kysely<Database>,
  plans: readonly PartitionPlan[],
  abandoned?: string,
): Promise<readonly PartitionPlan[]> {
  const budgeted = new Set(plans.filter(({ stream }) => stream.isBudgeted).map(({ stream }) => stream.name))
  const begun = new Map<StreamName, ReadonlySet<string>>()
  for (const stream of budgeted) begun.set(stream, await readOpenPartitions(db, stream))
  return await Promise.all(
    plans.map(async (plan) => {
      const partition = partitionKey(plan.partition)
      if (!begun.get(plan.stream.name)?.has(partition)) return plan
      const open = await readOpenSlice(db, plan.stream.name, partition)
      const isOver = abandoned !== undefined && open?.backfillId === abandoned
      if (open === undefined || isOver) return plan
      const slices = open.pagesRead > 0 ? endFirst(open, plan) : plan.slices
      return { ...plan, slices: slices.map((slice) => ({ ...slice, failedDays: open.failedDays })) }
    }),
  )
}

/** A backfill reads its range whatever others have read of it. */
export function endFirst(open: OpenSlice, { stream, partition, slices }: PartitionPlan): readonly Slice[] {
  const { window, covers, backfillId, pagesRead } = open
  const begun = { stream, partition, window, covers, pagesRead }
  const rest = slices.flatMap((slice) =>
    slice.window === undefined || slice.backfillId !== backfillId
      ? [slice]
      : subtractWindow(slice.window, window)
          .toReversed()
          .map((part) => partOf(slice, part)),
  )
  return [backfillId === undefined ? begun : { ...begun, backfillId }, ...rest]
}

import PQueue from 'p-queue'
import { yieldToEventLoop } from '../core/clock.ts'
import { hasCode, LivehouseError } from '../core/errors.ts'
import { partitionLease, placeOf, sliceName } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Leases } from '../ledger/leases/leases.ts'
import { rankInQueue, resumeOpenFirst, type SliceOrder } from './plan-again.ts'
import type { PartitionPlan, Plans } from './plan-slices.ts'
import { createEndableRun, type EndableRun } from './record-slice.ts'
import { runBudgetedSlice, type WaitingSlice } from './run-budgeted-slice.ts'
import { failedBy, runSlice } from './run-slice.ts'
import type { CutSlice, EndedSlice, RunDeps, Slice } from './slice-work.ts'
import { createTally, type RunResult, type Tally } from './tally.ts'

/** Plans the partitions that can be read after the previous phases. */
export type Phase = () => Promise<Plans>

export interface RunOptions {
  readonly concurrency: number
  /** Let one runner at a time work on a partition, across all processes. */
  readonly leases: Pick<Leases, 'tryTake' | 'holds' | 'release' | 'isWanted' | 'isServerReplaced'>
  /** Whether to release a partition after the slice in flight if another run wants it: no backfill blocks a sync. */
  readonly yieldsToOthers: boolean
  /** Plans what remains of a partition that another run held until now, or that this run has read before. */
  readonly planAgain: (plan: PartitionPlan) => Promise<readonly Slice[]>
  /** No slice begins after this instant (ms). */
  readonly stopAtMs?: number | undefined
  /** Which windows are read first. */
  readonly order: SliceOrder
  readonly onEnd?: (slice: Slice, result: EndedSlice) => void
}

/** How long to wait for partitions that other runs hold, besides the time in which this run reads others. */
const MAX_WAIT_MS = 1_800_000
const LEASE_POLL_MS = 1000

/**
 * Extracts slices concurrently, phase after phase: first whole lists, then windows by time, across all partitions. Each
 * slice runs under the lease of its partition, taken with the first slice and released with the last. A failed slice
 * does not stop the others. An interruption, or an error that all would meet (credentials refused, service or database
 * out of reach), ends the run: slices in flight end, and no other begins. Partitions that other runs hold come last.
 */
export async function runPhases(
  streams: readonly Stream[],
  phases: Iterable<Phase> | AsyncIterable<Phase>,
  deps: RunDeps,
  options: RunOptions,
): Promise<RunResult> {
  const run: PhasedRun = { ...createEndableRun(deps), options, tally: createTally(streams), spent: new Set() }
  const { signal } = run.deps
  for await (const phase of phases) {
    await runPhase(await resumeOpenFirst(deps.db, await phase(), deps.clock.now()), run)
    if (signal.aborted) break
  }
  return run.tally.result(signal.reason)
}

interface PartitionInRun {
  readonly plan: PartitionPlan
  /** The number of slices that wait or are in flight. */
  pending: number
  /**
   * What happens to its waiting slices. `given up`: the service ignores a parameter, or an open slice cannot end.
   * `left`: they are read on another day. `put off`: another run holds or wants the partition; they are planned again.
   */
  state: 'to read' | 'given up' | 'left' | 'put off'
  /** Undefined until the lease is requested; resolves to undefined if another run holds it. */
  lease: ReturnType<Leases['tryTake']> | undefined
  /** Whether its slices were planned while this run held the lease. */
  isPlannedUnderLease: boolean
}

interface PhasedRun extends EndableRun {
  readonly options: RunOptions
  readonly tally: Tally
  /** The streams whose calls of the day are spent in all partitions. */
  readonly spent: Set<string>
}

async function runPhase(plans: Plans, run: PhasedRun): Promise<void> {
  const { deps, tally } = run
  const counts = new Map<string, number>()
  for (const { stream, slices } of plans) counts.set(stream.name, (counts.get(stream.name) ?? 0) + slices.length)
  for (const [stream, slices] of counts) deps.report({ kind: 'stream.planned', stream, slices })

  let waitedMs = 0
  const isOver = () => deps.signal.aborted || isPastStop(run) || waitedMs >= MAX_WAIT_MS
  const partitions = plans.map((plan) => startPartition(plan))
  let blocked = await runPartitions(partitions, run)
  if (blocked.length > 0) deps.log.info('partition.waiting', { partitions: blocked.map(leaseOf).slice(0, 9) })
  for (; blocked.length > 0 && !isOver(); waitedMs += LEASE_POLL_MS) {
    await deps.clock.sleep(LEASE_POLL_MS, deps.signal).catch(() => {})
    if (deps.signal.aborted) break
    const again = blocked.map(({ plan }) => startPartition(plan, true))
    blocked = await runPartitions(again, run)
  }
  for (const slice of blocked.flatMap(({ plan }) => plan.slices)) {
    if (deps.signal.aborted) tally.addNotBegun(slice)
    else if (isPastStop(run)) tally.addLeft()
    else tally.add(slice, lockedOut(slice), false)
  }
}

/** Runs all slices of partitions. @returns the partitions that another run holds, or was given */
async function runPartitions(partitions: readonly PartitionInRun[], run: PhasedRun): Promise<PartitionInRun[]> {
  const { deps, options, tally } = run
  // If a stream has few calls a day, each slice ends before the next begins.
  const isScarce = partitions.some(({ plan }) => plan.stream.isBudgeted)
  const queue = new PQueue({ concurrency: isScarce ? 1 : options.concurrency })
  const turns = new Map(partitions.map((partition, turn) => [partition, turn]))
  const errors: unknown[] = []

  const runOne = async (slice: Slice, partition: PartitionInRun): Promise<void> => {
    const result = slice.stream.isBudgeted ? await runBudgetedSlice(slice, deps) : await runSlice(slice, deps)
    const parts = recordResult(slice, partition, result, run)
    await enqueue(parts.map((part) => ({ slice: part, partition })))
    if (partition.pending > 1 && options.yieldsToOthers && (await options.leases.isWanted(leaseOf(partition))))
      partition.state = 'put off'
  }
  const runUnderLease = async (slice: Slice, partition: PartitionInRun): Promise<void> => {
    if (partition.state === 'put off') return
    if (deps.signal.aborted || partition.state === 'given up') return tally.addNotBegun(slice)
    if (isPastStop(run) || partition.state === 'left' || run.spent.has(slice.stream.name)) return tally.addLeft()
    const hasLease = await takeLease(partition, run).catch((error: unknown) => {
      // It is unknown whether another run holds the lease.
      run.endRun(error)
      tally.add(slice, failedBy(error), true)
    })
    if (hasLease === false) partition.state = 'put off'
    if (!hasLease) return
    if (partition.isPlannedUnderLease) return await runOne(slice, partition)
    partition.isPlannedUnderLease = true
    const remaining = { ...partition.plan, slices: await options.planAgain(partition.plan) }
    const [plan = remaining] = await resumeOpenFirst(deps.db, [remaining], deps.clock.now())
    await enqueue(plan.slices.map((each) => ({ slice: each, partition })))
  }
  const runFromQueue = async (slice: Slice, partition: PartitionInRun): Promise<void> => {
    try {
      if (errors.length > 0) return
      await runUnderLease(slice, partition)
      partition.pending--
      if (partition.pending === 0) await options.leases.release(leaseOf(partition))
    } catch (error) {
      run.endRun(error)
      errors.push(error)
    }
  }
  // Sorted, because the queue starts the first ones at once, and inserts the others without a search.
  const enqueue = async (waiting: readonly { readonly slice: Slice; readonly partition: PartitionInRun }[]) => {
    const ranked = waiting.map(({ slice, partition }) => {
      return { slice, partition, ...rankInQueue(slice, turns.get(partition) ?? 0, options.order) }
    })
    ranked.sort((a, b) => b.priority - a.priority || b.rank - a.rank)
    for (const { partition } of ranked) partition.pending++
    for (const [index, { slice, partition, priority }] of ranked.entries()) {
      if (index % 1000 === 999) await yieldToEventLoop()
      void queue.add(async () => await runFromQueue(slice, partition), { priority })
    }
  }
  const planned = partitions.flatMap((partition) => {
    const count = partition.isPlannedUnderLease ? undefined : 1
    return partition.plan.slices.slice(0, count).map((slice) => ({ slice, partition }))
  })
  await enqueue(planned)
  await queue.onIdle()
  if (errors.length > 0) throw errors[0]
  return partitions.filter(({ state }) => state === 'put off')
}

async function takeLease(partition: PartitionInRun, { deps, options }: PhasedRun): Promise<boolean> {
  const { leases, yieldsToOthers } = options
  partition.lease ??= leases.tryTake(leaseOf(partition), { yieldsToOthers, forRun: deps.runId })
  return (await partition.lease) !== undefined && leases.holds(leaseOf(partition))
}

/** Records the result of a slice, and its effect on its partition. @returns the parts to read in its place */
function recordResult(
  slice: Slice,
  partition: PartitionInRun,
  result: EndedSlice | CutSlice | WaitingSlice,
  { deps, options, tally, isFatal, endRun, spent }: PhasedRun,
): readonly Slice[] {
  const { name: stream, isBudgeted } = slice.stream
  if (result.kind === 'waiting') {
    tally.addWaiting(slice, result)
    partition.state = 'left'
    if (result.scope === 'account') spent.add(stream)
  } else if (result.kind === 'cut') {
    tally.addCut(slice, result.counts)
    deps.report({ kind: 'slice.cut', stream, slice: sliceName(slice), parts: result.parts.length })
    return result.parts
  } else if (hasCode(result.error, 'lease.lost')) {
    // Another run may hold the partition now, as after a sleep of this machine. This run reads what that one leaves.
    tally.addCut(slice, result.counts)
    partition.state = 'put off'
  } else {
    if (isFatal(result.error)) endRun(result.error)
    const isStuck = (isBudgeted && result.proof === 'failed') || hasCode(result.error, 'paging.ignored')
    if (isStuck && partition.state !== 'put off') partition.state = 'given up'
    options.onEnd?.(slice, result)
    tally.add(slice, result, deps.signal.aborted)
  }
  return []
}

/**
 * @param isPlannedAgain whether to plan it again under the lease, because another run held it since it was planned. A
 * partition with few calls a day always is, because no call may be spent on what another run has landed meanwhile.
 */
function startPartition(plan: PartitionPlan, isPlannedAgain = false): PartitionInRun {
  const isPlannedUnderLease = !isPlannedAgain && plan.stream.isBudgeted !== true
  return { plan, pending: 0, state: 'to read', lease: undefined, isPlannedUnderLease }
}

function leaseOf({ plan }: PartitionInRun): string {
  return partitionLease(placeOf(plan))
}

function isPastStop({ deps, options }: PhasedRun): boolean {
  return options.stopAtMs !== undefined && deps.clock.now() >= options.stopAtMs
}

function lockedOut(slice: Slice): EndedSlice {
  const { stream, partition } = placeOf(slice)
  const held = `${stream} ${partition}: another run has held it for ${MAX_WAIT_MS / 60_000} minutes`
  return failedBy(new LivehouseError('slice.locked', `${held}; see \`livehouse status\``, {}))
}

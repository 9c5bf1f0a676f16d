import pLimit from 'p-limit'
import { hasCode, LivehouseError, recoveryFrom } from '../core/errors.ts'
import { noCounts } from '../core/outcome.ts'
import { partitionKey } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { type Leases, partitionLease } from '../ledger/leases.ts'
import type { PartitionPlan } from './partitions.ts'
import { resumeOpenFirst } from './plan-again.ts'
import { type Reachability, watchReachability } from './reachability.ts'
import { runPagedSlice } from './run-paged-slice.ts'
import { type EndedSlice, runSlice } from './run-slice.ts'
import { type RunDeps, type Slice, sliceName } from './slice-work.ts'
import { createTally, type JobResult, type Tally } from './tally.ts'
import { createWorkQueue, type OpenPartition, type SliceOrder } from './work-queue.ts'

/** What can be planned with what the phases before have brought. */
export type Phase = () => Promise<readonly PartitionPlan[]>

export interface JobOptions {
  /** Slices side by side. */
  readonly concurrency: number
  /** One runner a partition, over all processes. */
  readonly leases: Pick<Leases, 'tryTake' | 'holds' | 'release' | 'isWanted'>
  /** Makes way, after the slice in flight, for a run that waits for its partition: a backfill never blocks a sync. */
  readonly isPatient?: boolean
  /** What is left of a partition that another run held until now. */
  readonly planAgain: (plan: PartitionPlan) => Promise<readonly Slice[]>
  /** From this instant (ms) on nothing is begun; undefined for no end. */
  readonly stopAtMs?: number | undefined
  /** Which windows go first; the newest when not given. */
  readonly order?: SliceOrder
  readonly onEnd?: (slice: Slice, result: EndedSlice) => void
}

/** How long a partition that another run holds is waited for. */
const LONGEST_WAIT_MS = 1_800_000
const LEASE_POLL_MS = 1000

/**
 * Extracts slices side by side, phase after phase. One that fails does not stop the others; an error that none could survive
 * (credentials refused, service or database out of reach) and an interruption end the run: what is in flight ends, the rest is
 * not begun. A partition that another run works on is put last and waited for.
 */
export async function runJob(
  streams: readonly Stream[],
  phases: readonly Phase[],
  deps: RunDeps,
  options: JobOptions,
): Promise<JobResult> {
  const fatal = new AbortController()
  const signal = AbortSignal.any([deps.signal, fatal.signal])
  const reach = watchReachability(deps.fetchPage)
  const job: Job = {
    deps: { ...deps, signal, fetchPage: reach.fetchPage },
    options,
    tally: createTally(streams),
    reach,
    endRun: (error) => fatal.abort(error),
    spent: new Set(),
  }
  for (const phase of phases) {
    if (signal.aborted) break
    await runPhase(await resumeOpenFirst(deps.db, await phase()), job)
  }
  return job.tally.result(signal.reason)
}

interface Job {
  readonly deps: RunDeps
  readonly options: JobOptions
  readonly tally: Tally
  readonly reach: Reachability
  readonly endRun: (error: unknown) => void
  /** Streams whose calls of the day are spent, whatever the partition. */
  readonly spent: Set<StreamName>
}

async function runPhase(plans: readonly PartitionPlan[], job: Job): Promise<void> {
  const { deps, tally } = job
  const counts = new Map<StreamName, number>()
  for (const { stream, slices } of plans) counts.set(stream.name, (counts.get(stream.name) ?? 0) + slices.length)
  for (const [stream, slices] of counts) deps.report({ kind: 'stream.planned', stream, slices })

  const since = deps.clock.now()
  const isOver = () => deps.signal.aborted || isPastStop(job) || deps.clock.now() - since > LONGEST_WAIT_MS
  let blocked = await runPartitions(
    plans.map((plan) => openPartition(plan)),
    job,
  )
  for (const name of blocked.map(nameOf)) {
    deps.log.info('partition.waiting', { stream: name[0], partition: name[1] })
  }
  while (blocked.length > 0 && !isOver()) {
    await deps.clock.sleep(LEASE_POLL_MS, deps.signal).catch(() => {})
    const free: OpenPartition[] = []
    const held: OpenPartition[] = []
    for (const partition of blocked) {
      if (await take(partition, job)) free.push(openPartition(await planRest(partition.plan, job), true))
      else held.push(partition)
    }
    blocked = [...held, ...(await runPartitions(free, job))]
  }
  for (const slice of blocked.flatMap(({ plan }) => plan.slices)) {
    if (deps.signal.aborted) tally.addNotBegun(slice)
    else if (isPastStop(job)) tally.addLeft()
    else tally.add(slice, lockedOut(slice, deps.clock.now() - since), false)
  }
}

/** Whether a partition is ours now. A patient run lets those that wait go first. */
async function take(partition: OpenPartition, { options: { leases, isPatient = false } }: Job): Promise<boolean> {
  return (await leases.tryTake(leaseOf(partition), { isPatient })) !== undefined
}

async function planRest(plan: PartitionPlan, { options, deps }: Job): Promise<PartitionPlan> {
  const [rest] = await resumeOpenFirst(deps.db, [{ ...plan, slices: await options.planAgain(plan) }])
  return rest ?? plan
}

/** Runs partitions to their end. @returns those that another run holds, or that have made way for one */
async function runPartitions(partitions: readonly OpenPartition[], job: Job): Promise<OpenPartition[]> {
  const { deps, options, tally, reach } = job
  const { leases } = options
  const queue = createWorkQueue(partitions, options.order ?? 'newest-first')
  const blocked = new Set<OpenPartition>()
  // With few calls a day, one slice is ended before the next is begun.
  const isScarce = partitions.some(({ plan }) => plan.stream.isBudgeted)
  const limit = pLimit(isScarce ? 1 : options.concurrency)
  const places: Promise<void>[] = []
  const errors: unknown[] = []

  const putOff = (partition: OpenPartition): void => {
    partition.open -= queue.removeAll(partition).length
    blocked.add(partition)
  }
  const own = async (partition: OpenPartition): Promise<boolean> => {
    partition.lease ??= take(partition, job)
    return (await partition.lease) && leases.holds(leaseOf(partition))
  }
  const runOne = async (slice: Slice, partition: OpenPartition): Promise<void> => {
    const { isBudgeted } = slice.stream
    const result = isBudgeted ? await runPagedSlice(slice, deps) : await runSlice(slice, deps)
    if (result.kind === 'waiting') {
      tally.addWaiting(slice, result)
      partition.isWaiting = true
      if (result.scope === 'account') job.spent.add(slice.stream.name)
    } else if (result.kind === 'cut') {
      const { parts } = result
      tally.addCut(slice, result.counts)
      enqueue(parts, partition)
      const { name } = slice.stream
      deps.report({ kind: 'slice.cut', stream: name, slice: sliceName(slice), parts: parts.length })
    } else if (hasCode(result.error, 'lease.lost')) {
      // Another may have it by now, as after a machine was asleep: what that one lands counts, and the rest is read after it.
      tally.addCut(slice, result.counts)
      putOff(partition)
    } else {
      if (recoveryFrom(result.error) === 'abort' || reach.isLost(result.error)) job.endRun(result.error)
      const isStuck = isBudgeted === true && result.proof === 'failed'
      if (isStuck || hasCode(result.error, 'paging.ignored')) partition.isGivenUp = true
      options.onEnd?.(slice, result)
      tally.add(slice, result, deps.signal.aborted)
    }
    const isMore = partition.open > 1
    if (isMore && options.isPatient && (await leases.isWanted(leaseOf(partition)))) putOff(partition)
  }
  /** Of few calls a day, none goes to what another run has landed between the plan and the lease. */
  const planUnderLease = async (partition: OpenPartition): Promise<void> => {
    const { slices } = await planRest(partition.plan, job)
    partition.open -= queue.removeAll(partition).length
    partition.isPlannedUnderLease = true
    enqueue(slices, partition)
  }
  const work = async (slice: Slice, partition: OpenPartition): Promise<void> => {
    if (deps.signal.aborted || partition.isGivenUp) tally.addNotBegun(slice)
    else if (isPastStop(job) || partition.isWaiting || job.spent.has(slice.stream.name)) tally.addLeft()
    else {
      const isOurs = await own(partition).catch((error: unknown) => {
        // Whether another is at work on it is not known.
        job.endRun(error)
        tally.add(slice, failedBy(error), true)
      })
      if (isOurs && slice.stream.isBudgeted && !partition.isPlannedUnderLease) await planUnderLease(partition)
      else if (isOurs) await runOne(slice, partition)
      else if (isOurs === false) putOff(partition)
    }
    partition.open--
    if (partition.open === 0) await leases.release(leaseOf(partition))
  }
  /** A free place takes the slice that is next, which need not be the one that the place was made for. */
  const workNext = async (): Promise<void> => {
    const next = errors.length === 0 ? queue.take() : undefined
    try {
      if (next) await work(next.slice, next.partition)
    } catch (error) {
      job.endRun(error)
      errors.push(error)
    }
  }
  const addPlaces = (slices: readonly Slice[]): void => {
    for (const _ of slices) places.push(limit(workNext))
  }
  const enqueue = (slices: readonly Slice[], partition: OpenPartition): void => {
    partition.open += slices.length
    queue.add(slices, partition)
    addPlaces(slices)
  }
  for (const { plan } of partitions) addPlaces(plan.slices)
  // More of them come while they are waited for.
  for (const place of places) await place
  if (errors.length > 0) throw errors[0]
  for (const partition of partitions) {
    if (partition.plan.slices.length === 0) await leases.release(leaseOf(partition))
  }
  return [...blocked]
}

function openPartition(plan: PartitionPlan, isHeld = false): OpenPartition {
  return {
    plan,
    open: plan.slices.length,
    isGivenUp: false,
    isWaiting: false,
    lease: isHeld ? Promise.resolve(true) : undefined,
    isPlannedUnderLease: isHeld,
  }
}

function nameOf({ plan }: OpenPartition): [StreamName, string] {
  return [plan.stream.name, partitionKey(plan.partition)]
}

function leaseOf(partition: OpenPartition): string {
  return partitionLease(...nameOf(partition))
}

function isPastStop({ deps, options }: Job): boolean {
  return options.stopAtMs !== undefined && deps.clock.now() >= options.stopAtMs
}

function lockedOut({ stream, partition }: Slice, waitedMs: number): EndedSlice {
  const name = { stream: stream.name, partition: partitionKey(partition) }
  const message = `${name.stream} ${name.partition}: another run has held it for ${Math.round(waitedMs / 60_000)} minutes; see \`livehouse status\``
  const error = new LivehouseError('slice.locked', message, { ...name, waitedMs })
  return failedBy(error)
}

function failedBy(error: unknown): EndedSlice {
  return { kind: 'ended', proof: 'failed', counts: noCounts, error, found: undefined, hasNewHeaders: false }
}

import { hasCode, LivehouseError, recoveryFrom } from '../core/errors.ts'
import { noCounts } from '../core/outcome.ts'
import { partitionKey } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { begunFirst } from './begun-first.ts'
import { inParallel } from './in-parallel.ts'
import type { PartitionPlan } from './partitions.ts'
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
  readonly locks: {
    readonly tryTake: (stream: StreamName, partition: string) => Promise<boolean>
    /** Makes sure that what was taken is still ours. @throws when it is not, or cannot be */
    readonly keep: () => Promise<void>
    readonly release: (stream: StreamName, partition: string) => Promise<void>
    readonly startWaiting: (stream: StreamName, partition: string) => Promise<void>
    readonly stopWaiting: (stream: StreamName, partition: string) => Promise<void>
    readonly isWaitedFor: (stream: StreamName, partition: string) => Promise<boolean>
  }
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
const LOCK_POLL_MS = 1000

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
    await runPhase(await begunFirst(deps.db, await phase()), job)
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
  const { deps, options, tally } = job
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
    if (!options.isPatient) await options.locks.startWaiting(...name)
  }
  const waiting = blocked.map(nameOf)
  while (blocked.length > 0 && !isOver()) {
    await deps.clock.sleep(LOCK_POLL_MS, deps.signal).catch(() => {})
    const free: OpenPartition[] = []
    const held: OpenPartition[] = []
    for (const partition of blocked) {
      if (await takeAgain(partition, job)) free.push(openPartition(await planRest(partition.plan, job), true))
      else held.push(partition)
    }
    blocked = [...held, ...(await runPartitions(free, job))]
  }
  if (!options.isPatient) for (const name of waiting) await options.locks.stopWaiting(...name)
  for (const slice of blocked.flatMap(({ plan }) => plan.slices)) {
    if (deps.signal.aborted) tally.addNotBegun(slice)
    else if (isPastStop(job)) tally.addLeft()
    else tally.add(slice, lockedOut(slice, deps.clock.now() - since), false)
  }
}

/** Whether a partition that another run held is ours now. A patient run lets those that wait go first. */
async function takeAgain(partition: OpenPartition, { options }: Job): Promise<boolean> {
  const name = nameOf(partition)
  if (options.isPatient && (await options.locks.isWaitedFor(...name))) return false
  return await options.locks.tryTake(...name)
}

async function planRest(plan: PartitionPlan, { options, deps }: Job): Promise<PartitionPlan> {
  const [rest] = await begunFirst(deps.db, [{ ...plan, slices: await options.planAgain(plan) }])
  return rest ?? plan
}

/** Runs partitions to their end. @returns those that another run holds, or that have made way for one */
async function runPartitions(partitions: readonly OpenPartition[], job: Job): Promise<OpenPartition[]> {
  const { deps, options, tally, reach } = job
  const { locks } = options
  const queue = createWorkQueue(partitions, options.order ?? 'newest-first')
  const blocked = new Set<OpenPartition>()

  const putOff = (partition: OpenPartition): void => {
    partition.open -= queue.removeAll(partition).length
    blocked.add(partition)
  }
  const own = async (partition: OpenPartition): Promise<boolean> => {
    if (partition.lock !== undefined) await locks.keep()
    partition.lock ??= locks.tryTake(...nameOf(partition))
    return await partition.lock
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
      partition.open += parts.length
      queue.add(parts, partition)
      const { name } = slice.stream
      deps.report({ kind: 'slice.cut', stream: name, slice: sliceName(slice), parts: parts.length })
    } else {
      if (recoveryFrom(result.error) === 'abort' || reach.isLost(result.error)) job.endRun(result.error)
      const isStuck = isBudgeted === true && result.proof === 'failed'
      if (isStuck || hasCode(result.error, 'paging.ignored')) partition.isGivenUp = true
      options.onEnd?.(slice, result)
      tally.add(slice, result, deps.signal.aborted)
    }
    const isMore = partition.open > 1
    if (isMore && options.isPatient && (await locks.isWaitedFor(...nameOf(partition)))) putOff(partition)
  }
  const work = async (slice: Slice, partition: OpenPartition): Promise<void> => {
    if (deps.signal.aborted || partition.isGivenUp) tally.addNotBegun(slice)
    else if (isPastStop(job) || partition.isWaiting || job.spent.has(slice.stream.name)) tally.addLeft()
    else {
      const isOurs = await own(partition).catch((error: unknown) => {
        // Without its locks a run may not go on: another may be at work on the same.
        job.endRun(error)
        tally.add(slice, failedBy(error), true)
      })
      if (isOurs) await runOne(slice, partition)
      else if (isOurs === false) putOff(partition)
    }
    partition.open--
    if (partition.open === 0 && (await isHeld(partition))) await locks.release(...nameOf(partition))
  }
  // With few calls a day, one slice is ended before the next is begun.
  const isScarce = partitions.some(({ plan }) => plan.stream.isBudgeted)
  await inParallel(isScarce ? 1 : options.concurrency, () => {
    const next = queue.take()
    if (next === undefined) return undefined
    return async () =>
      await work(next.slice, next.partition).catch((error: unknown) => {
        job.endRun(error)
        throw error
      })
  })
  for (const partition of partitions) {
    const isEmpty = partition.plan.slices.length === 0
    if (isEmpty && (await isHeld(partition))) await locks.release(...nameOf(partition))
  }
  return [...blocked]
}

function openPartition(plan: PartitionPlan, isLocked = false): OpenPartition {
  return {
    plan,
    open: plan.slices.length,
    isGivenUp: false,
    isWaiting: false,
    lock: isLocked ? Promise.resolve(true) : undefined,
  }
}

function nameOf({ plan }: OpenPartition): [StreamName, string] {
  return [plan.stream.name, partitionKey(plan.partition)]
}

async function isHeld({ lock }: OpenPartition): Promise<boolean> {
  return (await lock?.catch(() => false)) ?? false
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

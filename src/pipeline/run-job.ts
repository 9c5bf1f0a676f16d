import { LivehouseError } from '../core/errors.ts'
import { noCounts } from '../core/outcome.ts'
import { partitionKey } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import type { PartitionPlan } from './partitions.ts'
import { type EndedSlice, runSlice } from './run-slice.ts'
import { type RunDeps, type Slice, sliceName } from './slice-work.ts'
import { createTally, isFatal, type JobResult, type Tally } from './tally.ts'
import { createWorkQueue, type OpenPartition, type SliceOrder } from './work-queue.ts'

/** What can be planned with what the phases before have brought. */
export type Phase = () => Promise<readonly PartitionPlan[]>

export interface JobOptions {
  /** Slices side by side. */
  readonly concurrency: number
  /** One runner a partition, over all processes. */
  readonly locks: {
    readonly tryTake: (stream: StreamName, partition: string) => Promise<boolean>
    readonly release: (stream: StreamName, partition: string) => Promise<void>
  }
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
  const job: Job = {
    deps: { ...deps, signal },
    options,
    tally: createTally(streams),
    endRun: (error) => fatal.abort(error),
  }
  for (const phase of phases) {
    if (signal.aborted) break
    await runPhase(await phase(), job)
  }
  return job.tally.result(signal.reason)
}

interface Job {
  readonly deps: RunDeps
  readonly options: JobOptions
  readonly tally: Tally
  readonly endRun: (error: unknown) => void
}

async function runPhase(plans: readonly PartitionPlan[], job: Job): Promise<void> {
  const { deps, options, tally } = job
  const counts = new Map<StreamName, number>()
  for (const { stream, slices } of plans) counts.set(stream.name, (counts.get(stream.name) ?? 0) + slices.length)
  for (const [stream, slices] of counts) deps.report({ kind: 'stream.planned', stream, slices })

  const partitions = plans.filter(({ slices }) => slices.length > 0).map((plan) => openPartition(plan))
  const waitingSince = deps.clock.now()
  let blocked = await runPartitions(partitions, job)
  for (const { plan } of blocked) {
    deps.log.info('partition.waiting', { stream: plan.stream.name, partition: partitionKey(plan.partition) })
  }
  while (blocked.length > 0) {
    const waitedMs = deps.clock.now() - waitingSince
    if (deps.signal.aborted || isPastStop(job) || waitedMs > LONGEST_WAIT_MS) break
    await deps.clock.sleep(LOCK_POLL_MS, deps.signal).catch(() => {})
    const free: OpenPartition[] = []
    const held: OpenPartition[] = []
    for (const partition of blocked) {
      if (!(await options.locks.tryTake(partition.plan.stream.name, partitionKey(partition.plan.partition))))
        held.push(partition)
      else free.push(openPartition({ ...partition.plan, slices: await options.planAgain(partition.plan) }, true))
    }
    blocked = [...held, ...(await runPartitions(free, job))]
  }
  for (const { plan } of blocked) {
    for (const slice of plan.slices) {
      if (deps.signal.aborted) tally.addNotBegun(slice)
      else if (isPastStop(job)) tally.addLeft()
      else tally.add(slice, lockedOut(slice, deps.clock.now() - waitingSince))
    }
  }
}

/** Runs partitions to their end. @returns those that another run holds */
async function runPartitions(partitions: readonly OpenPartition[], job: Job): Promise<OpenPartition[]> {
  const { deps, options, tally } = job
  const queue = createWorkQueue(partitions, options.order ?? 'newest-first')
  const blocked = new Set<OpenPartition>()

  const lock = (partition: OpenPartition): Promise<boolean> => {
    const { stream, partition: of } = partition.plan
    partition.lock ??= options.locks.tryTake(stream.name, partitionKey(of))
    return partition.lock
  }
  const end = async (partition: OpenPartition): Promise<void> => {
    if (--partition.open > 0) return
    if (await lock(partition))
      await options.locks.release(partition.plan.stream.name, partitionKey(partition.plan.partition))
  }
  const work = async (slice: Slice, partition: OpenPartition): Promise<void> => {
    if (deps.signal.aborted) tally.addNotBegun(slice)
    else if (isPastStop(job)) tally.addLeft()
    else if (!(await lock(partition))) {
      blocked.add(partition)
      queue.removeAll(partition)
      return
    } else {
      const result = await runSlice(slice, deps)
      if (result.kind === 'cut') {
        tally.addCut(slice, result.counts)
        partition.open += result.parts.length
        queue.add(result.parts, partition)
        deps.report({
          kind: 'slice.cut',
          stream: slice.stream.name,
          slice: sliceName(slice),
          parts: result.parts.length,
        })
      } else {
        if (isFatal(result.error)) job.endRun(result.error)
        options.onEnd?.(slice, result)
        tally.add(slice, result)
      }
    }
    await end(partition)
  }
  await inParallel(options.concurrency, () => {
    const next = queue.take()
    return next && (() => work(next.slice, next.partition))
  })
  for (const partition of partitions)
    if (partition.open === 0 && partition.plan.slices.length === 0) await end(partition)
  return [...blocked]
}

/** Keeps `limit` tasks going until `take` has none left and all have ended; a task may make more. */
async function inParallel(limit: number, take: () => (() => Promise<void>) | undefined): Promise<void> {
  const running = new Set<Promise<void>>()
  for (;;) {
    const task = running.size < limit ? take() : undefined
    if (task) {
      const run: Promise<void> = task().finally(() => running.delete(run))
      running.add(run)
    } else if (running.size === 0) return
    else await Promise.race(running)
  }
}

function openPartition(plan: PartitionPlan, isLocked = false): OpenPartition {
  return { plan, open: plan.slices.length, lock: isLocked ? Promise.resolve(true) : undefined }
}

function isPastStop({ deps, options }: Job): boolean {
  return options.stopAtMs !== undefined && deps.clock.now() >= options.stopAtMs
}

function lockedOut({ stream, partition }: Slice, waitedMs: number): EndedSlice {
  const name = { stream: stream.name, partition: partitionKey(partition) }
  const message = `${name.stream} ${name.partition}: another run has held it for ${Math.round(waitedMs / 60_000)} minutes; see \`livehouse status\``
  const error = new LivehouseError('slice.locked', message, { ...name, waitedMs })
  return { kind: 'ended', proof: 'failed', counts: noCounts, error, found: undefined, hasNewHeaders: false }
}

import { randomUUID } from 'node:crypto'
import type { AppContext } from '../app/context.ts'
import type { DatabaseSettings } from '../app/settings.ts'
import { systemClock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { partitionKey } from '../core/slice.ts'
import { readNewestSlice } from '../ledger/slices/slices.ts'
import type { PartitionPlan } from '../sync/plan-slices.ts'
import { type RunOptions, runPhases } from '../sync/run-phases.ts'
import { failedBy } from '../sync/run-slice.ts'
import type { RunPhases } from '../sync/run-streams.ts'
import type { RunDeps } from '../sync/slice-work.ts'
import { createTally, type Tally } from '../sync/tally.ts'
import type { EndedJob, Queue } from './queue.ts'
import type { PartitionEnd, PartitionJob } from './run-partition.ts'

/** How often to check whether other processes have ended partitions. In real time, like the queue. */
const POLL_MS = 1000
/** A run ends after this many partitions in a row that do not reach the service or that no worker can finish. */
const MAX_FAILURES_IN_ROW = 20
/** Errors that end the run only after several partitions in a row, as they may concern one machine alone. */
const TOLERATED_ERRORS: ReadonlySet<string> = new Set(['api.unreachable', 'api.noToken'])
/**
 * Syncs come before backfills. Each partition of a run has a lower priority than the one before it, so that runs take
 * turns: a run with few partitions does not wait for one with many.
 */
const PRIORITIES = { sync: 1_000_000_000, backfill: 0 }

/**
 * Carries out a plan through the queue, with a job for each partition that any worker may take: sends the jobs, waits
 * for them, adds up their results, and cancels them if interrupted. Streams with a daily call budget are read here.
 */
export function fanOut(queue: Queue): RunPhases {
  return async (streams, phases, deps, options) => {
    const fatal = new AbortController()
    const run: SharedRun = {
      queue,
      deps: { ...deps, signal: AbortSignal.any([deps.signal, fatal.signal]) },
      options,
      tally: createTally(streams),
      begunAtMs: deps.clock.now(),
      stop: (why) => fatal.abort(new Error(why)),
      failuresInRow: 0,
      hasReached: false,
    }
    for await (const phase of phases) {
      const plans = await phase()
      const here = plans.filter(({ stream }) => stream.isBudgeted)
      if (here.length > 0) run.tally.addResult(await runPhases(streams, [async () => here], run.deps, options))
      const queued = plans.filter(({ stream, slices }) => !stream.isBudgeted && slices.length > 0)
      await runQueued(queued, run)
      if (run.deps.signal.aborted) break
    }
    return run.tally.result(run.deps.signal.reason)
  }
}

interface SharedRun {
  readonly queue: Queue
  readonly deps: RunDeps
  readonly options: RunOptions
  readonly tally: Tally
  readonly begunAtMs: number
  readonly stop: (why: string) => void
  /** Partitions in a row that did not reach the service, or whose jobs failed. */
  failuresInRow: number
  /** Whether one has reached it; until then, the first that does not ends the run. */
  hasReached: boolean
}

async function runQueued(plans: readonly PartitionPlan[], run: SharedRun): Promise<void> {
  const { queue, deps, tally, options } = run
  if (plans.length === 0) return
  for (const [stream, ofStream] of Map.groupBy(plans, ({ stream }) => stream.name))
    deps.report({ kind: 'stream.planned', stream, slices: ofStream.length })
  const pending = new Map(plans.map((plan) => [randomUUID() as string, plan]))
  const afterSlice = await readNewestSlice(deps.db)
  try {
    const queued = [...pending].map(([id, plan], turn) => ({ id, ...toQueuedJob(plan, turn, afterSlice, run) }))
    await queue.send('partitions', queued)
    while (pending.size > 0 && !deps.signal.aborted) {
      const nextEnd = queue.nextEnd()
      for (const ended of await queue.readEnded('partitions', [...pending.keys()])) {
        // During an outage of the database the lease of this run may expire, and workers then drop its jobs.
        if (ended.state === 'cancelled' && options.leases.holds(`run ${deps.runId}`)) {
          await queue.giveBack('partitions', ended)
          continue
        }
        const plan = pending.get(ended.id)
        pending.delete(ended.id)
        if (plan !== undefined) addEnded(plan, ended, run)
      }
      if (pending.size > 0) await Promise.race([nextEnd, systemClock.sleep(POLL_MS, deps.signal)]).catch(() => {})
    }
  } finally {
    // If this fails, the lease of the run expires, and workers then drop its jobs.
    await queue.cancel('partitions', [...pending.keys()]).catch(() => {})
  }
  for (const { slices } of pending.values()) for (const slice of slices) tally.addNotBegun(slice)
}

function toQueuedJob(plan: PartitionPlan, turn: number, afterSlice: string, { deps, options, begunAtMs }: SharedRun) {
  const { stream, partition, slices } = plan
  const { order, yieldsToOthers, stopAtMs } = options
  const data: PartitionJob = {
    runId: deps.runId,
    begunAtMs,
    afterSlice,
    stream: stream.name,
    partition,
    slices: slices.map((slice) => ({ ...slice, stream: undefined, partition: undefined })),
    order,
    yieldsToOthers,
    stopAtMs,
  }
  // With the same key, a running backfill would keep a sync from starting. It yields the partition's lease instead.
  const key = `${yieldsToOthers ? 'backfill ' : ''}${stream.name} ${partitionKey(partition)}`
  return { key, priority: PRIORITIES[yieldsToOthers ? 'backfill' : 'sync'] - turn, data }
}

/** Adds the result of a partition. An error that concerns all of them, such as refused credentials, ends the run. */
function addEnded({ stream, partition, slices }: PartitionPlan, { state, output }: EndedJob, run: SharedRun): void {
  const { tally, options, deps } = run
  const { name } = stream
  const [slice] = slices
  if (slice === undefined) return
  if (state !== 'completed') {
    const { message, value } = Object(output)
    const why = String(message ?? Object(value).message ?? 'no reason is given')
    const reason = state === 'cancelled' ? 'its job was cancelled' : `no worker could finish it: ${why}`
    const error = new LivehouseError('job.failed', `${name} ${partitionKey(partition)}: ${reason}`, {})
    tally.add(slice, failedBy(error), false)
    if (state === 'failed' && ++run.failuresInRow >= MAX_FAILURES_IN_ROW) run.stop(error.message)
    return
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON that a worker has written
  const { result, ends } = output as PartitionEnd
  tally.addResult(result)
  const rows = result.streams[name]?.counts.extracted ?? 0
  deps.report({ kind: 'page', stream: name, slice: partitionKey(partition), rows, totalPages: 1 })
  deps.report({ kind: 'slice.ended', stream: name, slice: partitionKey(partition) })
  for (const { found, ...end } of ends) {
    const ids = new Set(found?.ids)
    const listed = found && { count: found.count, has: (id: string) => ids.has(id) }
    options.onEnd?.(slice, { kind: 'ended', error: undefined, ...end, found: listed })
  }
  const [problem] = result.errors
  if (result.status !== 'failed' || problem === undefined) {
    run.failuresInRow = 0
    run.hasReached = true
  } else if (!TOLERATED_ERRORS.has(problem.code) || ++run.failuresInRow >= MAX_FAILURES_IN_ROW || !run.hasReached)
    run.stop(problem.message)
}

/** Opens the queue if a run has `--queue`; pg-boss is loaded only then. @throws db.… codes */
export async function openQueueIf(isAsked: boolean, context: AppContext, settings: DatabaseSettings) {
  if (!isAsked) return undefined
  const { openQueue } = await import('./open-queue.ts')
  const queue = await openQueue(context, settings)
  context.remark('queued: `livehouse worker` and `livehouse serve` do the work')
  return queue
}

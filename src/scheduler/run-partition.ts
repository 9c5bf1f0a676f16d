import type { AppContext } from '../app/context.ts'
import { readServiceTime } from '../app/open-connection.ts'
import { createSliceDeps, type RunConnection, SLICES_PER_CALL } from '../app/run-extraction.ts'
import type { ServiceSettings } from '../app/settings.ts'
import { LivehouseError } from '../core/errors.ts'
import { type Partition, placeOf } from '../core/slice.ts'
import { readLeases } from '../ledger/leases/lease-rows.ts'
import { Leases, thisProcess } from '../ledger/leases/leases.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { hasSliceAfter } from '../ledger/slices/slices.ts'
import { readEarlierAttempts } from '../ledger/slices/slices-of-runs.ts'
import { checkSource } from '../ledger/source.ts'
import type { Db } from '../store/database.ts'
import { readPending } from '../store/migrate.ts'
import { findStream } from '../streams/registry.ts'
import { planAgain } from '../sync/plan-again.ts'
import { type RunOptions, runPhases } from '../sync/run-phases.ts'
import type { EndedSlice, Slice } from '../sync/slice-work.ts'
import { createTally, type RunResult } from '../sync/tally.ts'
import type { Attempt } from './queue.ts'
import { type WorkOptions, workOn } from './work-on.ts'

/** A partition of a run, as queued: with its plan, so that a worker needs neither job files nor channel lists. */
export interface PartitionJob extends Pick<RunOptions, 'order' | 'yieldsToOthers' | 'stopAtMs'> {
  readonly runId: string
  /** When the run began, by the service's clock; what other runs have landed since is not read again. */
  readonly begunAtMs: number
  /** The newest slice when this was queued; later slices of the same run and partition are from earlier attempts. */
  readonly afterSlice: string
  readonly stream: string
  readonly partition: Partition
  readonly slices: readonly Omit<Slice, 'stream' | 'partition'>[]
}

function jobOf({ data }: Attempt): PartitionJob {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON that the process of the run has queued
  return data as PartitionJob
}

/** The end of a slice that other slices depend on. */
type ReportedEnd = Pick<EndedSlice, 'proof' | 'counts'> & {
  /** For a list: how many rows it had, and which known questionnaires. */
  readonly found: { readonly count: number; readonly ids: readonly string[] } | undefined
}

/** The result of a partition. */
export interface PartitionEnd {
  readonly result: RunResult
  readonly ends: readonly ReportedEnd[]
}

interface WorkerDeps extends Pick<WorkOptions, 'queue' | 'concurrency'> {
  readonly db: Db
  readonly service: ServiceSettings
  readonly connection: RunConnection
}

/** Works on queued partitions until the signal of the context aborts. */
export async function workOnPartitions(context: AppContext, deps: WorkerDeps): Promise<void> {
  const { log, signal } = context
  const { db, queue, concurrency } = deps
  log.info('worker.started', { worker: thisProcess(), concurrency })
  // Warn about clocks once, not with each partition. If the service is unreachable, reading reports that.
  void readServiceTime(context, deps.connection).catch(() => {})
  await using leases = new Leases(db)
  const handle = createPartitionHandler(context, deps, leases)
  // Jobs of a run that is over, or whose process has died, are no longer wanted.
  const keepWanted = async (attempts: readonly Attempt[]) => {
    const alive = new Set((await readLeases(db)).map(({ name }) => name))
    return attempts.filter((attempt) => alive.has(`run ${jobOf(attempt).runId}`))
  }
  await workOn({ queue, name: 'partitions', concurrency, log, signal, keepWanted, handle })
}

/** Errors after which another worker tries once: this process may have no connection, or no token that works. */
const TRIED_ELSEWHERE: ReadonlySet<string> = new Set([
  'api.unreachable',
  'api.noToken',
  'api.credentialsRefused',
  'api.unauthorized',
  'api.wrongAuthUrl',
])

function createPartitionHandler(
  context: AppContext,
  { db, service, connection, concurrency }: WorkerDeps,
  sharedLeases: Leases,
): WorkOptions['handle'] {
  const { serviceClock } = connection
  // Limits of pages read ahead and of batches written at once hold for all partitions of the process together.
  const shared = createSliceDeps(context, connection, { db, service, clock: serviceClock, runId: '', report: () => {} })
  const slicesAtOnce = Math.ceil((SLICES_PER_CALL * service.concurrency) / concurrency)

  return async (attempt, signal): Promise<PartitionEnd> => {
    const { runId, begunAtMs, afterSlice, stream: name, partition, slices, ...options } = jobOf(attempt)
    const stream = findStream(name)
    if (stream === undefined) throw new Error(`there is no stream ${name}: update livehouse on every machine`)
    // A newer livehouse may have migrated the database since this process opened it, or the source may have moved.
    await readPending(db)
    await checkSource(db, service)
    await serviceClock.refresh(signal).catch(() => {})
    const begunAt = new Date(begunAtMs)
    const ends: EndedSlice[] = []
    const planned = { stream, partition, slices: slices.map((each) => ({ ...each, stream, partition })) }
    const plan = async () => ({ ...planned, slices: await planAgain(db, planned, begunAt, service.timeZone) })
    const part = { stream, partition, window: undefined, timeZone: service.timeZone }
    // In most cases, nothing of the partition was read since it was planned, and the plan still holds.
    const isBegun = await hasSliceAfter(db, placeOf(planned), afterSlice)
    const earlier = isBegun ? await readEarlierAttempts(db, part, runId, afterSlice) : undefined
    // A sync and a backfill of the same partition may run here at once, so each holds leases of its own.
    await using leases = sharedLeases.createSharing()
    const deps = { ...shared, signal, runId, requireLease: leases.requirePartition }
    const result = await runPhases([stream], [async () => [isBegun ? await plan() : planned]], deps, {
      ...options,
      concurrency: slicesAtOnce,
      leases,
      planAgain: async () => (await plan()).slices,
      onEnd: (_, end) => {
        if (stream.listsQuestions) ends.push(end)
      },
    })
    if (result.status !== 'ok') signal.throwIfAborted()
    const databaseError = result.errors.find(({ code }) => code.startsWith('db.'))
    if (databaseError !== undefined && !attempt.isLast) throw new Error(databaseError.message)
    const ownError = result.errors.find(({ code }) => TRIED_ELSEWHERE.has(code))
    // Only at first: if the next worker has the same error, that is the result, and ends the run.
    if (ownError !== undefined && attempt.number === 0)
      throw new LivehouseError('job.failed', `${ownError.message} (${thisProcess()})`, {})
    const questions = ends.length === 0 ? [] : ((await readQuestions(db)).get(partition.channel ?? '') ?? [])
    const tally = createTally([stream])
    if (earlier !== undefined) tally.addResult({ ...result, streams: { [name]: earlier } })
    tally.addResult(result)
    return {
      result: { ...result, streams: tally.result(undefined).streams },
      ends: ends.map(({ proof, counts, found }) => {
        const ids = found && { count: found.count, ids: questions.filter((id) => found.has(id)) }
        return { proof, counts, found: ids }
      }),
    }
  }
}

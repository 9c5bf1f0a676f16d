import { operatorCommands, type RunOutcome } from '../core/outcome.ts'
import { noSlices } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { readShortfalls } from '../ledger/open-readings.ts'
import { type NewAcceptance, readAcceptances, recordAcceptance } from '../ledger/slices/acceptances.ts'
import { acceptMissingFields } from '../ledger/slices/earlier-readings.ts'
import { type ForgottenPartition, forgetCoverage, type RangeToForget } from '../ledger/slices/forget-coverage.ts'
import { readSource } from '../ledger/source.ts'
import { parseExact } from '../service/read-answer.ts'
import type { Db } from '../store/database.ts'
import { allStreams } from '../streams/registry.ts'
import { type RetryResult, retryQuarantine } from '../sync/retry-quarantine.ts'
import { cancelRun } from './cancel-run.ts'
import type { AppContext } from './context.ts'
import { boundsOf, outcomeObject } from './outcome.ts'
import { type RecordRequest, recordRun } from './record-run.ts'

/** What an operator can do from the status page. Each action is recorded as a run, with the person who requested it. */
export type OperatorActions = ReturnType<typeof createOperatorActions>

/** Queues a run of a job, unless the job is running. `none`: there is no job of this name */
type RunJob = (job: string, askedBy: string) => Promise<'queued' | 'running' | 'none'>

export function createOperatorActions(context: AppContext, db: Db, runJob: RunJob) {
  const runIdOf = async (recorded: Promise<Recorded<unknown>>): Promise<string | null> => {
    const run = await recorded
    return 'error' in run ? run.failure.runId : run.outcome.runId
  }
  return {
    runJob,
    /** Cancels a run. @returns false if it is not under way */
    cancelRun: async (runId: string, askedBy: string): Promise<boolean> => {
      if (!(await cancelRun(db, runId))) return false
      const action = { command: operatorCommands.cancel, parameters: { run: runId } }
      await recordAction({ ...context, askedBy }, db, action, async () => ({ streams: {}, result: {} }))
      return true
    },
    /** Retries everything in quarantine. @returns the id of the run that records this */
    retryQuarantine: async (askedBy: string) => await runIdOf(runRetry({ ...context, askedBy }, db, undefined)),
    /** Removes a range from coverage, so that the next sync reads it again. @returns the id of the run */
    reopen: async (range: RangeToForget, askedBy: string) =>
      await runIdOf(runForget({ ...context, askedBy }, db, range)),
  }
}

/** The outcome of a run that records an operator's action, and what the action did. */
interface ActionOutcome<T> extends RunOutcome {
  readonly result: T
}

type Recorded<T> = Awaited<ReturnType<typeof recordRun<ActionOutcome<T>>>>

async function recordAction<T extends object>(
  context: AppContext,
  db: Db,
  { command, parameters }: Pick<RecordRequest<RunOutcome>, 'command' | 'parameters'>,
  work: (signal: AbortSignal) => Promise<Pick<ActionOutcome<T>, 'streams' | 'result'>>,
): Promise<Recorded<T>> {
  const toRecord = (outcome: ActionOutcome<T>) => ({ ...outcomeObject(outcome), ...outcome.result })
  return await recordRun<ActionOutcome<T>>(context, { db, command, parameters, toRecord }, async ({ signal }) => {
    return { status: 'ok', resumesAt: null, errors: [], ...(await work(signal)) }
  })
}

/** Retries what is in quarantine, as a recorded run. @param names of streams; all if undefined */
export async function runRetry(
  context: AppContext,
  db: Db,
  names: readonly string[] | undefined,
): Promise<Recorded<{ readonly read_again: RetryResult['readAgain'] }>> {
  const action = { command: operatorCommands.retry, parameters: { streams: names } }
  return await recordAction(context, db, action, async (signal) => {
    // Before the first sync, quarantine is empty and the time zone unknown.
    const timeZone = (await readSource(db))?.timeZone ?? 'UTC'
    const deps = { db, streams: allStreams, parse: parseExact, now: () => context.clock.now(), signal, timeZone }
    const { streams, readAgain } = await retryQuarantine(deps, names)
    const outcomes = [...streams].map(([name, counts]) => [name, { counts, slices: noSlices }])
    return { streams: Object.fromEntries(outcomes), result: { read_again: readAgain } }
  })
}

/** Removes a range from coverage, as a recorded run, so that the next sync reads it again. */
export async function runForget(
  context: AppContext,
  db: Db,
  range: RangeToForget,
): Promise<Recorded<{ readonly forgotten: readonly ForgottenPartition[] }>> {
  const { streams, channels, window } = range
  const parameters = { streams, channels, ...boundsOf(window) }
  const work = async () => ({ streams: {}, result: { forgotten: await forgetCoverage(db, range) } })
  return await recordAction(context, db, { command: operatorCommands.forget, parameters }, work)
}

interface AcceptRequest extends Pick<NewAcceptance, 'channelId' | 'reason' | 'acceptedAt' | 'expiresAt'> {
  readonly stream: Stream
}

/**
 * Accepts the shortfalls of a stream: fields that the service no longer sends, and missing rows.
 * @returns the fields; the acceptance of the rows, or why there is none; the service's time zone
 */
export async function acceptShortfalls(db: Db, { stream, ...request }: AcceptRequest) {
  const { channelId, reason, acceptedAt } = request
  const shortfalls = await readShortfalls(db, stream.name, channelId)
  const fields = await acceptMissingFields(db, { stream: stream.name, channelId, reason, at: acceptedAt })
  const timeZone = (await readSource(db))?.timeZone ?? 'UTC'
  if (shortfalls.length === 0) return { fields, timeZone, failure: 'nothing short' } as const
  if (shortfalls.some(({ missingRows }) => missingRows === null || missingRows <= 0))
    return { fields, timeZone, failure: 'size unknown' } as const
  const isKeyed = stream.identity === undefined
  const acceptanceId = await recordAcceptance(db, { ...request, stream: stream.name, shortfalls, isKeyed })
  const acceptance = (await readAcceptances(db)).find((each) => each.acceptanceId === acceptanceId)
  return { fields, timeZone, acceptance, isKeyed }
}

import { publishForms } from '../bi/publish/publish-forms.ts'
import { refreshFigures } from '../bi/publish/refresh-figures.ts'
import { recoveryFrom } from '../core/errors.ts'
import type { RunOutcome } from '../core/outcome.ts'
import { noCounts, noSlices } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, formatWallDate, HOUR, MINUTE, type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import { type BackfillArguments, findOpenBackfill } from '../ledger/backfills.ts'
import { readGoneChannels, registerChannels } from '../ledger/channels.ts'
import { pruneRecords } from '../ledger/prune-records.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { areMostRunsAfter } from '../ledger/runs/runs.ts'
import { endAcceptances } from '../ledger/slices/acceptances.ts'
import { mergeSlices, pruneSlices } from '../ledger/slices/compact-slices.ts'
import { forgetReadingsAfter } from '../ledger/slices/forget-coverage.ts'
import { checkSource } from '../ledger/source.ts'
import type { Connection } from '../service/connect.ts'
import { MAX_CLOCK_DIFFERENCE_SECONDS } from '../service/service-clock.ts'
import type { Db } from '../store/database.ts'
import { createLoadQueue } from '../sync/batch-loader.ts'
import { planAgain, resumeOpenFirst, type SliceOrder } from '../sync/plan-again.ts'
import type { PartitionPlan } from '../sync/plan-slices.ts'
import { createReadAhead } from '../sync/read-pages.ts'
import { type PlanStreams, type RunPhases, runStreams } from '../sync/run-streams.ts'
import type { RunDeps } from '../sync/slice-work.ts'
import type { RunResult } from '../sync/tally.ts'
import type { AppContext } from './context.ts'
import { checkGoneChannels, recordUnknownChannels } from './gone-channels.ts'
import { openConnection, openRunConnection, readServiceTime } from './open-connection.ts'
import { openUpToDate } from './open-database.ts'
import { type OpenRun, type RecordRequest, recordRun } from './record-run.ts'
import { openRecordedProgress } from './save-progress.ts'
import type { ExtractionSettings, ServiceSettings } from './settings.ts'

export interface ExtractionRequest extends Pick<RecordRequest<RunOutcome>, 'db' | 'command' | 'parameters'> {
  readonly settings: ExtractionSettings
  /** Whether channels were named; if so, those that are gone are read too. */
  readonly namesChannels: boolean
  readonly streams: readonly Stream[]
  /** `now`: the service's wall clock at the start. */
  readonly planStreams: (now: WallTime) => PlanStreams
  /** Which windows to read first; the newest if not given. */
  readonly order?: SliceOrder
  /** Whether to yield partitions to other runs that wait for them. */
  readonly yieldsToOthers?: boolean
  /** `HH:MM` of the service's clock; no slice begins after it. */
  readonly until?: string | undefined
  /** A connection shared with other runs; if not given, the run opens its own. */
  readonly connection?: RunConnection
  /** How to carry out the plan; in this process if not given. */
  readonly runPhases?: RunPhases | undefined
}

/** Slices to read at once per concurrent call: a slice makes one call at first, and none while it lands. */
export const SLICES_PER_CALL = 1.5

function withoutChannels(planStreams: PlanStreams, gone: ReadonlySet<string>): PlanStreams {
  return async (streams, questionsOf) => {
    const plans = await planStreams(streams, questionsOf)
    return plans.filter(({ partition }) => partition.channel === undefined || !gone.has(partition.channel))
  }
}

/** When the clock next shows `HH:MM` (ms); if it skips that time, when it would have come without the change. */
function nextInstantOf(time: string, startMs: number, clock: (instantMs: number) => WallTime): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const ahead = hours * HOUR + minutes * MINUTE - (clock(startMs) % DAY)
  const seconds = ahead > 0 ? ahead : ahead + DAY
  const target = clock(startMs) + seconds
  const unchangedMs = startMs + seconds * 1000
  const changedMs = unchangedMs + (target - clock(unchangedMs)) * 1000
  return clock(changedMs) === target ? changedMs : unchangedMs
}

/** Performs a run that reads rows, records it however it ends, and then updates what depends on the rows. */
export async function runExtraction(context: AppContext, request: ExtractionRequest): Promise<RunOutcome> {
  const { signal } = context
  const { db, settings } = request
  // A run writes before its first call, and another process may have claimed the database since the connection opened.
  await checkSource(db, settings.service)
  await using resources = new AsyncDisposableStack()
  const connection = request.connection ?? resources.use(await openRunConnection(context, settings, db))
  const recorded = await recordRun(
    context,
    request,
    async (run) => await extract({ ...context, signal: run.signal }, request, run, connection),
  )
  if ('error' in recorded) {
    // An unreachable service is a result of the run, not an error of the program.
    if (recoveryFrom(recorded.error) === 'retry') return recorded.failure
    throw recorded.error
  }
  const now = new Date(connection.serviceClock.now())
  if (!signal.aborted) {
    // After a first load, this takes seconds.
    using _waiting = await context.openProgress('updating figures')
    await mergeSlices(db, now)
    await pruneSlices(db, now)
    await pruneRecords(db, now)
    await refreshFigures(db, signal)
    // Update the views of questionnaires whose headers have changed, unless commands may not change the schema.
    const forms = settings.database.isAutoMigrated ? await publishForms(db, signal) : undefined
    for (const notice of forms?.notices.values() ?? []) context.log.warn('forms.blocked', { notice })
  }
  return recorded.outcome
}

export interface PlanRequest extends Pick<ExtractionRequest, 'command' | 'settings' | 'streams' | 'namesChannels'> {
  /** `backfillId`: of the unfinished backfill that would be resumed. */
  readonly planStreams: (db: Db | undefined, now: WallTime, backfillId: string | undefined) => PlanStreams
  readonly backfill?: { readonly args: BackfillArguments; readonly restart: boolean }
}

/** Plans what a run would read. Writes nothing to the database: no run, migration, source or channel. */
export async function planRun(
  context: AppContext,
  request: PlanRequest,
): Promise<{ readonly outcome: RunOutcome; readonly plans: readonly PartitionPlan[] }> {
  const startedAt = new Date(context.clock.now()).toISOString()
  const { settings, streams, command } = request
  const { service } = settings
  await using database = await openUpToDate(context, settings.database)
  const { db } = database
  if (db !== undefined) await checkSource(db, service)

  const gone = db === undefined || request.namesChannels ? new Set<string>() : await readGoneChannels(db)
  const questions = db && (await readQuestions(db, 'listed'))
  const questionsOf = (channelId: string) => questions?.get(channelId) ?? []
  // Without a database: sharing the token and the rate of calls would write to it.
  await using connection = openConnection(context, service, undefined)
  const clock = await readServiceTime(context, connection)
  const open = db && request.backfill && (await findOpenBackfill(db, request.backfill.args))
  const [resumed, abandoned] = request.backfill?.restart ? [undefined, open] : [open, undefined]
  const planStreams = request.planStreams(db, wallTimeAt(clock.now(), service.timeZone), resumed)
  const newPlans = await withoutChannels(planStreams, gone)(streams, questionsOf)
  const plans = db === undefined ? newPlans : await resumeOpenFirst(db, newPlans, clock.now(), abandoned)
  const outcome = {
    runId: null,
    command,
    status: 'ok',
    startedAt,
    finishedAt: new Date(context.clock.now()).toISOString(),
    resumesAt: null,
    streams: Object.fromEntries(streams.map(({ name }) => [name, { counts: noCounts, slices: noSlices }])),
    errors: [],
  } as const
  return { outcome, plans }
}

async function extract(
  context: AppContext,
  request: ExtractionRequest,
  { runId, leases }: OpenRun,
  connection: RunConnection,
): Promise<RunResult> {
  const { log, signal } = context
  const { command, settings, db } = request
  const { service, configured } = settings
  await using progress = await openRecordedProgress(context, db, runId)
  log.info('run.started', { runId, command })
  // Registering no channels would retire all of them, only because LIVEHOUSE_CHANNELS is not set.
  if (configured.length > 0) await registerChannels(db, configured, runId)
  // All bounds are in the service's time. This machine's clock only tells when the run began and ended.
  const clock = await readServiceTime(context, connection)
  const startedAt = new Date(clock.now())
  await endAcceptances(db, startedAt)
  // Without the service's time, readings of another machine may lie ahead; if this clock is behind, all of them may.
  const hasTime = connection.serviceClock.ownAheadMs() !== undefined
  const maxAheadSeconds = hasTime ? MAX_CLOCK_DIFFERENCE_SECONDS : UNSYNCHRONISED_SECONDS
  const latest = new Date(startedAt.getTime() + maxAheadSeconds * 1000)
  const slices = hasTime || !(await areMostRunsAfter(db, latest)) ? await forgetReadingsAfter(db, latest) : 0
  if (slices > 0) log.warn('ledger.forgotten', { runId, slices, reason: 'they lie in the future' })

  const deps = {
    ...createSliceDeps(context, connection, { db, service, clock, runId, report: progress.report }),
    requireLease: leases.requirePartition,
  }
  const now = deps.wallTimeAt(startedAt.getTime())
  const run = { db, log, runId, serviceDay: formatWallDate(now) }
  const gone = request.namesChannels ? new Set<string>() : await checkGoneChannels(run, connection.fetchPage, signal)
  const planStreams = withoutChannels(request.planStreams(now), gone)
  const options = {
    concurrency: Math.ceil(SLICES_PER_CALL * service.concurrency),
    leases,
    planAgain: (partition: PartitionPlan) => planAgain(db, partition, startedAt, service.timeZone),
    order: request.order ?? 'newest-first',
    yieldsToOthers: request.yieldsToOthers ?? false,
    stopAtMs: request.until ? nextInstantOf(request.until, startedAt.getTime(), deps.wallTimeAt) : undefined,
  }
  const result = await runStreams(request.streams, planStreams, deps, options, request.runPhases)
  return { ...result, errors: await recordUnknownChannels(run, result.errors) }
}

/** The tolerance (s) without the service's time: the clocks of two machines differ by less, if set at all. */
const UNSYNCHRONISED_SECONDS = 2 * DAY

/** The part of a connection that a run uses. */
export type RunConnection = Pick<Connection, 'fetchPage' | 'serviceClock'>

/** `clock`: the service's. */
interface Run extends Pick<RunDeps, 'db' | 'clock' | 'runId' | 'report'> {
  readonly service: ServiceSettings
}

/** Pages that all slices may request or hold per concurrent call: with more than one, a late page stops no other. */
const PAGES_AHEAD = 3
const PAGES_PER_SLICE = 50

/** What the slices of a run share, in syncs and audits alike. */
export function createSliceDeps(
  context: Pick<AppContext, 'clock' | 'log' | 'signal'>,
  { fetchPage, serviceClock }: RunConnection,
  { db, service, clock, runId, report }: Run,
) {
  const { log, signal } = context
  const { timeZone, concurrency, maxUnreadablePercent } = service
  return {
    db,
    fetchPage,
    clock,
    log,
    signal,
    report,
    timeZone,
    claimableMs: serviceClock.claimableMs,
    wallTimeAt: (instantMs: number) => wallTimeAt(instantMs, timeZone),
    runId,
    readAhead: createReadAhead(PAGES_AHEAD * concurrency),
    longestServed: new Map(),
    rangeEnds: new Map(),
    loadQueue: createLoadQueue(),
    pagesPerSlice: PAGES_PER_SLICE,
    maxUnreadablePercent,
  }
}

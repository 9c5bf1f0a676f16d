import type { AuditJob, BackfillJob, Job, JobRange, SyncJob } from '../core/define-job.ts'
import { LivehouseError } from '../core/errors.ts'
import type { RunOutcome } from '../core/outcome.ts'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, formatWallTime, parseWallTime, wallTimeAt } from '../core/wall-clock.ts'
import type { Db } from '../store/database.ts'
import { findStream, streams, withQuestionStreams } from '../streams/registry.ts'
import type { RunPhases } from '../sync/run-streams.ts'
import { requestHeartbeat } from './alerts/send-alerts.ts'
import type { AppContext } from './context.ts'
import { type AuditOutcome, runAudit } from './run-audit.ts'
import { runBackfill, syncPlanner } from './run-backfill.ts'
import { type RunConnection, runExtraction } from './run-extraction.ts'
import type { ChannelSetting, ExtractionSettings } from './settings.ts'

/** How a run of a job ended. */
export type JobOutcome = Pick<RunOutcome, 'runId' | 'status' | 'errors'>

/** Runs a job. @throws any error that stops the job before it has an outcome */
export type RunJob = (
  job: Job,
  run: { readonly signal: AbortSignal; readonly askedBy?: string | undefined },
) => Promise<JobOutcome>

interface JobDeps {
  readonly db: Db
  readonly connection: RunConnection
  /** Reads the settings for a run, with the channels of the job; called for each run. @throws config.invalid */
  readonly readSettings: (job: Job) => ExtractionSettings
  readonly runPhases?: RunPhases
  readonly onResult?: (outcome: RunOutcome | AuditOutcome) => void
}

/** What a run of any kind of job needs. */
type JobRequest = ReturnType<typeof createJobRequest>

function createJobRequest({ db, connection, runPhases }: JobDeps, job: Job, settings: ExtractionSettings) {
  const shared = { command: `run ${job.name}`, settings, db, namesChannels: false, streams: chooseJobStreams(job) }
  return { ...shared, connection, runPhases, job }
}

/** Creates the function that the scheduler calls to run a job. */
export function createRunJob(context: AppContext, deps: JobDeps): RunJob {
  return async (job, { signal, askedBy }) => {
    const settings = deps.readSettings(job)
    const runContext = { ...context, signal, askedBy }
    const outcome = await runKind(runContext, createJobRequest(deps, job, settings))
    deps.onResult?.(outcome)
    if (outcome.status === 'ok') await requestHeartbeat(runContext, settings)
    return outcome
  }
}

async function runKind(context: AppContext, request: JobRequest): Promise<RunOutcome> {
  const { definition } = request.job
  if (definition.kind === 'audit') return await runAuditJob(context, definition, request)
  if (definition.kind === 'backfill') return await runBackfillJob(context, definition, request)
  return await runSyncJob(context, definition, request)
}

async function runAuditJob(context: AppContext, { range, streams: named }: AuditJob, request: JobRequest) {
  const window = range && (await rangeWindow(context, range, request))
  return await runAudit(context, { ...request, namesStreams: named !== undefined, window, reopens: true })
}

/** Reads the range of a job again. An unfinished range of fixed dates is resumed when the job is due again. */
async function runBackfillJob(context: AppContext, { range, onlyGaps = false }: BackfillJob, request: JobRequest) {
  const window = await rangeWindow(context, range, request)
  const args = {
    from: formatWallTime(window.from),
    to: formatWallTime(window.to),
    streams: request.streams.filter(({ isTimeFiltered }) => isTimeFiltered).map(({ name }) => name),
    channels: request.settings.channels.map(({ channelId }) => channelId),
    onlyGaps,
  }
  return await runBackfill(context, {
    ...request,
    parameters: { job: request.job.name, ...args },
    window,
    args,
    // Any other range has other dates tomorrow, so this backfill would never be resumed.
    isResumable: !('lastDays' in range) && range.to !== undefined,
    clock: request.connection.serviceClock,
  })
}

async function runSyncJob(context: AppContext, definition: SyncJob, request: JobRequest) {
  const { db, job, settings } = request
  const { lookbackDays, until } = definition
  return await runExtraction(context, {
    ...request,
    parameters: { job: job.name, ...definition, channels: settings.channels.map(({ channelId }) => channelId) },
    planStreams: (now) => syncPlanner(db, settings, now, lookbackDays),
    until,
  })
}

/** The range of a job on the service's wall clock, by default from `historyFrom` to the end of today, never later. */
async function rangeWindow(
  { signal }: AppContext,
  range: JobRange,
  { connection: { serviceClock }, settings: { historyFrom, service } }: JobRequest,
): Promise<Window> {
  await serviceClock.refresh(signal)
  const tomorrow = (Math.floor(wallTimeAt(serviceClock.now(), service.timeZone) / DAY) + 1) * DAY
  if ('lastDays' in range) return { from: tomorrow - range.lastDays * DAY, to: tomorrow }
  const { from, to } = range
  return {
    from: from === undefined ? historyFrom : (parseWallTime(from) ?? historyFrom),
    to: to === undefined ? tomorrow : Math.min(tomorrow, parseWallTime(to) ?? tomorrow),
  }
}

/** The configured channels of a job. @throws config.invalid for unknown channels or groups */
export function chooseJobChannels(
  { name, definition }: Job,
  configured: readonly ChannelSetting[],
): readonly ChannelSetting[] {
  const { channels = 'all' } = definition
  if (channels === 'all') return configured
  if ('group' in channels) {
    const members = configured.filter(({ group }) => group === channels.group)
    if (members.length > 0) return members
    const groups = new Set(configured.flatMap(({ group }) => group ?? []))
    const hint = groups.size === 0 ? 'none has a group' : `the groups are ${[...groups].join(', ')}`
    throw jobError(name, [`channels names the group ${JSON.stringify(channels.group)}, and no channel has it; ${hint}`])
  }
  const ids = new Set(configured.map(({ channelId }) => channelId))
  const unknown = channels.filter((id) => !ids.has(id))
  if (unknown.length > 0) {
    throw jobError(
      name,
      unknown.map((id) => `channels names ${JSON.stringify(id)}, which is not among LIVEHOUSE_CHANNELS`),
    )
  }
  return configured.filter(({ channelId }) => channels.includes(channelId))
}

function jobError(name: string, problems: readonly string[]): LivehouseError<'config.invalid'> {
  const ofJob = problems.map((problem) => `job ${name}: ${problem}`)
  return new LivehouseError('config.invalid', 'a job does not fit the settings', { problems: ofJob })
}

/** The streams of a job, by default those of the command of its kind, with the lists that they depend on. */
export function chooseJobStreams({ kind, definition }: Job): readonly Stream[] {
  const listed = definition.streams?.flatMap((name) => findStream(name) ?? [])
  return withQuestionStreams(listed ?? streams.filter(({ isTimeFiltered }) => kind !== 'backfill' || isTimeFiltered))
}

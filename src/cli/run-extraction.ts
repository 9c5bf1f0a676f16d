import assert from 'node:assert/strict'
import type { Kysely } from 'kysely'
import type { Connection } from '../api/connect.ts'
import type { AlertSettings } from '../config/read-alerts.ts'
import type { ChannelSetting } from '../config/channel-setting.ts'
import { readAutoMigrate, readSettings, type ServiceSettings } from '../config.ts'
import { recoveryFrom } from '../core/errors.ts'
import type { RunOutcome } from '../core/outcome.ts'
import { type Partition, partitionKey } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { DAY, formatWallDate, MINUTE, openWallClock, type WallTime } from '../core/wall-clock.ts'
import { publishForms } from '../db/bi/publish-forms.ts'
import { readPendingBi } from '../db/bi/read-pending-bi.ts'
import type { Database } from '../db/database.ts'
import { createReadAhead } from '../pipeline/read-ahead.ts'
import { planAgain } from '../pipeline/plan-again.ts'
import { type PlanStreams, runStreams } from '../pipeline/run-streams.ts'
import type { JobResult } from '../pipeline/tally.ts'
import { createTurns } from '../pipeline/turns.ts'
import type { SliceOrder } from '../pipeline/work-queue.ts'
import { endAcceptances } from '../state/acceptances.ts'
import { mergeSlices } from '../state/merge-slices.ts'
import { pruneRecords } from '../state/prune-records.ts'
import { pruneSlices } from '../state/prune-slices.ts'
import { Leases, partitionLease } from '../state/leases.ts'
import { finishRun, openRun } from '../state/runs.ts'
import { itemReader } from '../transform/field.ts'
import { registerChannels } from '../warehouse/channels.ts'
import { createRowBuffers } from '../warehouse/row-buffers.ts'
import { askGoneChannels } from './ask-gone-channels.ts'
import type { CliContext } from './command.ts'
import { describePendingBi } from './describe-pending-bi.ts'
import { causeBehind, failureOutcome } from './failure.ts'
import { outcomeObject } from './outcome-json.ts'
import { openRunConnection } from './open-run-connection.ts'
import { readServiceTime } from './read-service-time.ts'
import { settleChannels } from './settle-channels.ts'

/** What a run needs of a connection. */
export type RunConnection = Pick<Connection, 'fetchPage' | 'serviceClock'>

export interface ExtractionRequest {
  /** The verb. */
  readonly command: string
  /** What was asked for, for the record; without secrets. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly service: ServiceSettings
  readonly db: Kysely<Database>
  /** Every configured channel, also those that this run does not read. */
  readonly channels: readonly ChannelSetting[]
  /** Whether the channels were asked for by name: then those that are gone are tried again. */
  readonly namesChannels: boolean
  readonly streams: readonly Stream[]
  /** `now`: the service's wall clock at the start. */
  readonly planStreams: (now: WallTime) => PlanStreams
  /** Which windows go first; the newest when not given. */
  readonly order?: SliceOrder
  /** Makes way for other runs on the same partitions. */
  readonly isPatient?: boolean
  /** `HH:MM` of the service's clock: from then on nothing is begun. */
  readonly until?: string | undefined
  /** A connection that several runs share; one of its own when not given. */
  readonly connection?: RunConnection
  /** Whom to tell when it is not green; nobody when not given. */
  readonly alerts?: AlertSettings
}

/**
 * Slices side by side, for each call that may be made at once: the first page of each comes alone, and at its end it waits for the
 * database, while others go on.
 */
const SLICES_A_CALL = 1.5
/** Pages asked for or held over all slices, for each call that may be made at once: one late page does not stop the others. */
const PAGES_AHEAD = 3
/** Batches written at once; measured: more gain nothing. */
const LOADERS = 2
const PAGES_PER_SLICE = 50

/** The same plan without what belongs to channels that are gone. */
function withoutChannels(planStreams: PlanStreams, gone: ReadonlySet<string>): PlanStreams {
  return async (streams, questionsOf) => {
    const plans = await planStreams(streams, questionsOf)
    return plans.filter(({ partition }) => partition.channel === undefined || !gone.has(partition.channel))
  }
}

/** From a reading of the wall clock to the next `HH:MM`. */
function secondsUntil(now: WallTime, time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const ahead = hours * 3600 + minutes * MINUTE - (now % DAY)
  return ahead > 0 ? ahead : ahead + DAY
}

/** Runs slices and writes the run down, however it ends: the part that every verb that reads shares. */
export async function runExtraction(context: CliContext, request: ExtractionRequest): Promise<RunOutcome> {
  const { clock, log, signal } = context
  const { command, db } = request
  const { alerts } = request
  const { tellOfCauses } = alerts?.webhook ? await import('./tell-of-causes.ts') : {}
  const startedAt = new Date(clock.now())
  await using leases = new Leases(db)
  const runId = await openRun(db, { command, settings: request.settings, startedAt }, leases)
  const finish = async (outcome: RunOutcome): Promise<void> => {
    const { status, finishedAt } = outcome
    await finishRun(db, runId, {
      status,
      finishedAt: new Date(finishedAt),
      resumesAt: outcome.resumesAt === null ? null : new Date(outcome.resumesAt),
      outcome: outcomeObject(outcome),
    })
    log.info('run.ended', { runId, command, status })
    if (alerts !== undefined) await tellOfCauses?.(context, db, alerts, request.service.proxies)
  }
  const times = () => ({ startedAt: startedAt.toISOString(), finishedAt: new Date(clock.now()).toISOString() })
  await using own = request.connection ? undefined : await openRunConnection(context, request.service, db)
  const connection = request.connection ?? own ?? assert.fail('there is no connection')
  let job: JobResult
  try {
    job = await extract(context, request, { runId, leases }, connection)
  } catch (thrown) {
    const error = causeBehind(thrown)
    // Where the database does not answer, what stopped the run says so; to say it again would hide the rest.
    const failure = failureOutcome(runId, { command, error, ...times() })
    await finish(failure).catch(() => {})
    // A service out of reach is how the run ended; nothing else went wrong.
    if (recoveryFrom(error) === 'retry') return failure
    throw error
  }
  const outcome: RunOutcome = { runId, command, ...job, ...times() }
  await finish(outcome)
  const now = new Date(connection.serviceClock.now())
  if (!signal.aborted) {
    await mergeSlices(db, now)
    await pruneSlices(db, now)
    await pruneRecords(db, now, signal)
    await followHeaders(context, db, runId)
  }
  return outcome
}

/** The views of questionnaires follow headers that have changed, unless commands may not change the schema. */
async function followHeaders(
  { environment, log, signal }: CliContext,
  db: Kysely<Database>,
  runId: string,
): Promise<void> {
  if (readSettings(environment, readAutoMigrate)) {
    const { made, notices } = await publishForms(db, signal)
    if (made.length > 0) log.info('forms.published', { runId, views: made })
    for (const notice of notices) log.warn('forms.blocked', { runId, notice })
  } else {
    const { forms } = await readPendingBi(db)
    for (const notice of describePendingBi({ views: 'current', forms })) log.warn('forms.outdated', { runId, notice })
  }
}

async function extract(
  context: CliContext,
  request: ExtractionRequest,
  { runId, leases }: { readonly runId: string; readonly leases: Leases },
  connection: RunConnection,
): Promise<JobResult> {
  const { log, signal } = context
  const { command, service, db, channels } = request
  // Without LIVEHOUSE_CHANNELS nothing is known of the channels: none is retired.
  if (channels.length > 0) await registerChannels(db, channels, runId)
  // One time for all bounds: of this machine's clock the run keeps only when it began and ended.
  const clock = await readServiceTime(context, connection)
  const startedAt = new Date(clock.now())
  await endAcceptances(db, startedAt)
  const { fetchPage } = connection
  using progress = await context.openProgress()
  log.info('run.started', { runId, command })

  const wallTimeAt = openWallClock(service.timeZone)
  const deps = {
    db,
    fetchPage,
    openItemReader: itemReader,
    clock,
    log,
    signal,
    report: progress.report,
    timeZone: service.timeZone,
    wallTimeAt,
    runId,
    readAhead: createReadAhead(PAGES_AHEAD * service.concurrency, context.clock),
    requireLease: async (trx: Kysely<Database>, stream: StreamName, partition: Partition) =>
      await leases.require(trx, partitionLease(stream, partitionKey(partition))),
    loadTurns: createTurns(LOADERS),
    rowBuffers: createRowBuffers(runId),
    pagesPerSlice: PAGES_PER_SLICE,
  }
  const now = wallTimeAt(startedAt.getTime())
  const run = { db, log, runId, serviceDay: formatWallDate(now) }
  const gone = request.namesChannels
    ? new Set<string>()
    : await askGoneChannels(run, request.streams, fetchPage, signal)
  const planStreams = withoutChannels(request.planStreams(now), gone)
  const job = await runStreams(request.streams, planStreams, deps, {
    concurrency: Math.ceil(SLICES_A_CALL * service.concurrency),
    leases,
    planAgain: (partition) => planAgain(db, partition, startedAt),
    order: request.order ?? 'newest-first',
    isPatient: request.isPatient ?? false,
    stopAtMs: request.until === undefined ? undefined : startedAt.getTime() + secondsUntil(now, request.until) * 1000,
  })
  const errors = await settleChannels(run, job.errors)
  return { ...job, errors }
}

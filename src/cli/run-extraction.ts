import type { Kysely } from 'kysely'
import { connect } from '../api/connect.ts'
import type { ChannelSetting } from '../config/channel-setting.ts'
import type { ServiceSettings } from '../config.ts'
import type { RunOutcome } from '../core/outcome.ts'
import { type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { planAgain } from '../pipeline/plan-again.ts'
import type { SyncPlan } from '../pipeline/plan-sync.ts'
import { runSync } from '../pipeline/run-sync.ts'
import { readGoneChannels } from '../state/channel-states.ts'
import { PartitionLocks } from '../state/partition-locks.ts'
import { finishRun, startRun } from '../state/runs.ts'
import { itemReader } from '../transform/field.ts'
import { registerChannels } from '../warehouse/channels.ts'
import type { CliContext } from './command.ts'
import { outcomeObject } from './outcome-json.ts'
import { settleChannels } from './settle-channels.ts'

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
  /** `now`: the service's wall clock at the start. */
  readonly plan: (now: WallTime) => SyncPlan
}

/** Slices side by side. Each waits for calls or for the database most of the time; calls have a ceiling of their own. */
const CONCURRENT_SLICES = 8

/** Runs slices and writes the run down: the part that `sync` and `demo` share. */
export async function runExtraction(context: CliContext, request: ExtractionRequest): Promise<RunOutcome> {
  const { clock, log, signal } = context
  const { command, service, db, channels } = request
  const startedAt = new Date(clock.now())
  const runId = await startRun(db, { command, settings: request.settings, startedAt })
  await registerChannels(db, channels, runId)
  await using connection = connect({ ...service, clock, log, addSecret: context.addSecret })
  using progress = await context.openProgress()
  log.info('run.started', { runId, command })

  const deps = {
    db,
    fetchPage: connection.fetchPage,
    openItemReader: itemReader,
    clock,
    log,
    signal,
    report: progress.report,
    timeZone: service.timeZone,
    runId,
    prefetch: service.concurrency,
  }
  const plan = request.plan(wallTimeAt(startedAt.getTime(), service.timeZone))
  await using locks = await PartitionLocks.open(db)
  const gone = request.namesChannels ? new Set<string>() : await readGoneChannels(db)
  const present = plan.channels.filter(({ channelId }) => !gone.has(channelId))
  const job = await runSync({ ...plan, channels: present }, deps, {
    concurrency: Math.min(CONCURRENT_SLICES, service.concurrency),
    locks,
    planAgain: (partition) => planAgain(db, partition, startedAt),
  })
  const errors = await settleChannels(db, log, runId, job.errors)
  const finishedAt = new Date(clock.now())
  const outcome: RunOutcome = {
    runId,
    command,
    ...job,
    errors,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
    resumesAt: null,
  }
  await finishRun(db, runId, { status: job.status, finishedAt, resumesAt: null, outcome: outcomeObject(outcome) })
  log.info('run.ended', { runId, command, status: job.status })
  return outcome
}

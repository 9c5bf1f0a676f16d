import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { RunOutcome } from '../../core/outcome.ts'
import type { Window } from '../../core/slice.ts'
import type { Stream, StreamName } from '../../core/stream.ts'
import { openWallClock } from '../../core/wall-clock.ts'
import type { Database } from '../../db/database.ts'
import { type AuditResult, runAudit } from '../../pipeline/audit/run-audit.ts'
import { createReadAhead } from '../../pipeline/read-ahead.ts'
import { createTurns } from '../../pipeline/turns.ts'
import { endAcceptances } from '../../state/acceptances.ts'
import { readGoneChannels } from '../../state/channel-states.ts'
import { readQuestions } from '../../state/questionnaires.ts'
import { readAcceptances } from '../../state/read-acceptances.ts'
import { Leases } from '../../state/leases.ts'
import { finishRun, openRun } from '../../state/runs.ts'
import { itemReader } from '../../transform/field.ts'
import { createRowBuffers } from '../../warehouse/row-buffers.ts'
import type { CliContext } from '../command.ts'
import type { ExtractionSettings } from '../extraction-settings.ts'
import { causeBehind, failureOutcome } from '../failure.ts'
import { openRunConnection } from '../open-run-connection.ts'
import { outcomeObject } from '../outcome-json.ts'
import { readServiceTime } from '../read-service-time.ts'
import type { RunConnection } from '../run-extraction.ts'
import { tellOfCauses } from '../tell-of-causes.ts'
import type { AuditOutcome } from './audit-outcome.ts'
import { auditObject } from './report.ts'

export interface AuditVerbRequest {
  readonly settings: ExtractionSettings
  readonly db: Kysely<Database>
  readonly streams: readonly Stream[]
  /** Streams that were named and cannot be compared. */
  readonly unaudited: readonly StreamName[]
  /** Whether the channels were asked for by name: then those that are gone are tried again. */
  readonly namesChannels: boolean
  /** Undefined for all that is covered. */
  readonly window: Window | undefined
  readonly pages: number
  /** Undefined for one that is drawn. */
  readonly seed: number | undefined
  readonly reopens: boolean
  /** What the run is recorded as; `audit` when not given. */
  readonly command?: string
  /** A connection that several runs share; one of its own when not given. */
  readonly connection?: RunConnection
}

const CONCURRENT_PARTITIONS = 8
const PAGES_PER_SLICE = 50
/** For each call that may be made at once. */
const PAGES_AHEAD = 3
const LARGEST_SEED = 1_000_000

/** Compares the warehouse with the service; a run like any other, written down however it ends. */
export async function executeAudit(context: CliContext, request: AuditVerbRequest): Promise<AuditOutcome> {
  const { clock, log } = context
  const { db, settings, streams, unaudited, window, pages, reopens, command = 'audit' } = request
  const startedAt = new Date(clock.now())
  const channels = settings.channels.map(({ channelId }) => channelId)
  const asked = { streams: streams.map(({ name }) => name), channels, window: window ?? null, pages, reopens }
  await using leases = new Leases(db)
  const runId = await openRun(db, { command, settings: asked, startedAt }, leases)
  const finish = async (outcome: RunOutcome, record: unknown): Promise<void> => {
    const { status, finishedAt } = outcome
    await finishRun(db, runId, { status, finishedAt: new Date(finishedAt), resumesAt: null, outcome: record })
    log.info('run.ended', { runId, command, status })
    await tellOfCauses(context, db, settings.alerts, settings.service.proxies)
  }
  const times = () => ({ startedAt: startedAt.toISOString(), finishedAt: new Date(clock.now()).toISOString() })
  try {
    const result = await compare(context, request, runId)
    const outcome = { runId, command, ...result, ...times(), resumesAt: null, unaudited }
    // Values of rows are for the terminal: the record of the run holds no personal data.
    await finish(outcome, auditObject(outcome, { withValues: false }))
    return outcome
  } catch (thrown) {
    const error = causeBehind(thrown)
    const outcome = failureOutcome(runId, { command, error, ...times() })
    // Where the database does not answer, what stopped the run says so; to say it again would hide the rest.
    await finish(outcome, outcomeObject(outcome)).catch(() => {})
    throw error
  }
}

async function compare(
  context: CliContext,
  { settings, db, streams, namesChannels, window, pages, seed, reopens, ...request }: AuditVerbRequest,
  runId: string,
): Promise<AuditResult & Pick<AuditOutcome, 'gone'>> {
  const { log, signal } = context
  const { service, channels } = settings
  await using own = request.connection ? undefined : await openRunConnection(context, service, db)
  const connection = request.connection ?? own ?? assert.fail('there is no connection')
  const clock = await readServiceTime(context, connection)
  await endAcceptances(db, new Date(clock.now()))
  using progress = await context.openProgress()
  log.info('run.started', { runId, command: request.command ?? 'audit' })
  const gone = namesChannels ? new Set<string>() : await readGoneChannels(db)
  const questions = await readQuestions(db)
  const question = {
    streams,
    channels: channels.filter(({ channelId }) => !gone.has(channelId)),
    window,
    questionsOf: (channelId: string) => questions.get(channelId) ?? [],
    acceptances: await readAcceptances(db),
    pages,
    seed: seed ?? randomInt(1, LARGEST_SEED),
    reopens,
    concurrency: Math.min(CONCURRENT_PARTITIONS, service.concurrency),
  }
  const result = await runAudit(question, {
    db,
    fetchPage: connection.fetchPage,
    openItemReader: itemReader,
    clock,
    log,
    signal,
    report: progress.report,
    timeZone: service.timeZone,
    wallTimeAt: openWallClock(service.timeZone),
    runId,
    readAhead: createReadAhead(PAGES_AHEAD * service.concurrency, context.clock),
    // It writes no rows.
    requireLease: async () => {},
    loadTurns: createTurns(1),
    rowBuffers: createRowBuffers(runId),
    pagesPerSlice: PAGES_PER_SLICE,
  })
  return { ...result, gone: channels.flatMap(({ channelId }) => (gone.has(channelId) ? [channelId] : [])) }
}

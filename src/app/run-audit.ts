import type { RunOutcome } from '../core/outcome.ts'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { readGoneChannels } from '../ledger/channels.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { endAcceptances } from '../ledger/slices/acceptances.ts'
import { readStreamsOnRecord } from '../ledger/slices/slices.ts'
import { checkSource } from '../ledger/source.ts'
import { rowKeyColumn } from '../store/load/table-part.ts'
import { findStream } from '../streams/registry.ts'
import { auditStreams } from '../sync/audit/audit-streams.ts'
import { type Difference, describeDifference, type PartitionAudit } from '../sync/audit/comparison.ts'
import { UNLISTED_GRACE_MS } from '../sync/run-streams.ts'
import type { AppContext } from './context.ts'
import { openRunConnection, readServiceTime } from './open-connection.ts'
import { boundsOf, outcomeObject } from './outcome.ts'
import { recordRun } from './record-run.ts'
import { createSliceDeps, type ExtractionRequest } from './run-extraction.ts'
import { openRecordedProgress } from './save-progress.ts'

type Common = 'command' | 'settings' | 'db' | 'streams' | 'namesChannels' | 'connection'

export interface AuditRequest extends Pick<ExtractionRequest, Common> {
  /** Whether streams were named. If not, streams that were never read are left out, unless none was ever read. */
  readonly namesStreams: boolean
  /** Undefined to compare everything that is covered. */
  readonly window: Window | undefined
  readonly reopens: boolean
}

const CONCURRENT_PARTITIONS = 8

/** Compares the warehouse with the service, as a recorded run. */
export async function runAudit(context: AppContext, request: AuditRequest): Promise<AuditOutcome> {
  const { db, settings, window, reopens } = request
  await checkSource(db, settings.service)
  // An audit does not spend calls that have a daily limit.
  const streams = request.streams.filter(({ isBudgeted }) => !isBudgeted)
  const unaudited = request.streams.flatMap(({ name, isBudgeted }) => (isBudgeted ? [name] : []))
  const channels = settings.channels.map(({ channelId }) => channelId)
  const parameters = { streams: streams.map(({ name }) => name), channels, ...(window && boundsOf(window)), reopens }
  const recorded = await recordRun<AuditOutcome>(
    context,
    { ...request, parameters, toRecord: auditObject },
    async ({ runId, signal }) => ({
      ...(await compare({ ...context, signal }, { ...request, streams }, runId)),
      resumesAt: null,
      unaudited,
    }),
  )
  if ('error' in recorded) throw recorded.error
  return recorded.outcome
}

async function compare(
  context: AppContext,
  { settings, db, streams, namesStreams, namesChannels, window, reopens, ...request }: AuditRequest,
  runId: string,
) {
  const { log } = context
  const { service, channels, historyFrom } = settings
  await using resources = new AsyncDisposableStack()
  const connection = request.connection ?? resources.use(await openRunConnection(context, settings, db))
  const clock = await readServiceTime(context, connection)
  await endAcceptances(db, new Date(clock.now()))
  await using progress = await openRecordedProgress(context, db, runId)
  log.info('run.started', { runId, command: request.command })
  const gone = namesChannels ? new Set<string>() : await readGoneChannels(db)
  const questions = await readQuestions(db, new Date(clock.now() - UNLISTED_GRACE_MS))
  const read = await readStreamsOnRecord(db)
  const isLeftOut = ({ name }: Stream) => !namesStreams && read.size > 0 && !read.has(name)
  const auditRequest = {
    streams,
    isLeftOut,
    channels: channels.filter(({ channelId }) => !gone.has(channelId)),
    window,
    historyFrom,
    questionsOf: (channelId: string) => questions.get(channelId) ?? [],
    reopens,
    concurrency: Math.min(CONCURRENT_PARTITIONS, service.concurrency),
  }
  const result = await auditStreams(auditRequest, {
    ...createSliceDeps(context, connection, { db, service, clock, runId, report: progress.report }),
    // An audit writes no rows.
    requireLease: async () => {},
  })
  return { ...result, gone: channels.flatMap(({ channelId }) => (gone.has(channelId) ? [channelId] : [])) }
}

/** The outcome of an audit's run, and its findings. */
export interface AuditOutcome extends RunOutcome {
  readonly partitions: readonly PartitionAudit[]
  /** Requested streams that cannot be compared. */
  readonly unaudited: readonly string[]
  /** Channels that the service no longer knows, which were not compared. */
  readonly gone: readonly string[]
}

/** Why version 1 is not compared. */
export const NOT_BY_TOTAL = 'not audited by total: version 1 tells none, and allows ten calls a day'

/** The JSON object of an audit: that of its run, and `audit`. */
export function auditObject(outcome: AuditOutcome): Readonly<Record<string, unknown>> {
  return {
    ...outcomeObject(outcome),
    audit: {
      partitions: outcome.partitions.map((each) => ({
        stream: each.stream,
        partition: each.partition,
        verdict: each.verdict,
        ...boundsOf(each.window),
        source_rows: each.sourceRows ?? null,
        warehouse_rows: each.warehouseRows === undefined ? null : each.warehouseRows - each.quarantinedRows,
        quarantined_rows: each.quarantinedRows,
        differences: each.differences.map(differenceObject),
        reopened: each.reopened.map(boundsOf),
        notes: each.notes,
      })),
      not_audited: outcome.unaudited.map((stream) => ({ stream, reason: NOT_BY_TOTAL })),
      gone: outcome.gone,
    },
  }
}

/** Describes each difference of a partition in one sentence, without values of rows. */
export function describeDifferences({ stream, differences }: PartitionAudit): readonly string[] {
  const declaration = findStream(stream)
  return differences.map((each) => describeDifference(each, declaration === undefined ? '' : rowKeyColumn(declaration)))
}

function differenceObject(difference: Difference): Readonly<Record<string, unknown>> {
  const { kind, window } = difference
  return { kind, ...boundsOf(window), rows: difference.rows, ...('keys' in difference && { keys: difference.keys }) }
}

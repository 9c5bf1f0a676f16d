import type { Kysely } from 'kysely'
import pLimit from 'p-limit'
import { LivehouseError, recoveryFrom } from '../../core/errors.ts'
import { noCounts } from '../../core/outcome.ts'
import { partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { parseWallTime } from '../../core/wall-clock.ts'
import { readLedger } from '../../ledger/read-ledger.ts'
import type { Database } from '../../store/database.ts'
import { rowKeyColumn } from '../../store/table-part.ts'
import { partitionsOf, type PlannedChannel, type QuestionsOf, wantedPartitions } from '../partitions.ts'
import { watchReachability } from '../reachability.ts'
import { createCallMeter, type RunDeps } from '../slice-work.ts'
import { createTally, type JobResult, type Tally } from '../tally.ts'
import { auditPartition } from './audit-partition.ts'
import {
  type AuditTask,
  describeDifference,
  type OpenAudit,
  type PartitionAudit,
  proofOf,
  sumOfRows,
} from './partition-audit.ts'
import { settleAudit } from './settle-audit.ts'

export interface AuditRequest extends AuditScope {
  readonly streams: readonly Stream[]
  /** The known questionnaires of a channel. */
  readonly questionsOf: QuestionsOf
  /** Whether the next sync is to read again what differs. */
  readonly reopens: boolean
  /** Partitions side by side. */
  readonly concurrency: number
}

export interface AuditResult extends JobResult {
  readonly partitions: readonly PartitionAudit[]
}

/**
 * Holds the source's totals against the warehouse, partition by partition, and names what differs. Writes nothing but the ledger's
 * note that a range is to be read again. One partition that fails does not stop the others.
 */
export async function runAudit(request: AuditRequest, deps: RunDeps): Promise<AuditResult> {
  const fatal = new AbortController()
  const signal = AbortSignal.any([deps.signal, fatal.signal])
  const reach = watchReachability(deps.fetchPage)
  const inner = { ...deps, signal, fetchPage: reach.fetchPage }
  const limit = pLimit(request.concurrency)
  const audits: OpenAudit[] = []
  const compare = async (audit: OpenAudit): Promise<void> => {
    if (signal.aborted) return
    await compareOne(audit, inner)
    if (recoveryFrom(audit.error) === 'abort' || reach.isLost(audit.error)) fatal.abort(audit.error)
  }
  // Signups are those of questionnaires: which of these are still there is known by then.
  for (const isOfQuestions of [false, true]) {
    const streams = request.streams.filter((each) => (each.partitionedBy === 'channel/question') === isOfQuestions)
    const tasks = await planAudit(deps.db, streams, request, stillThere(request.questionsOf, audits))
    const opened = tasks.map(
      (task): OpenAudit => ({ task, meter: createCallMeter(), comparison: undefined, error: undefined }),
    )
    audits.push(...opened)
    for (const { name } of streams) {
      const slices = tasks.filter(({ stream }) => stream.name === name).length
      deps.report({ kind: 'stream.planned', stream: name, slices })
    }
    await Promise.all(opened.map(async (audit) => await limit(compare, audit)))
  }
  const tally = createTally(request.streams)
  const partitions: PartitionAudit[] = []
  for (const audit of audits) {
    const settled = await settleAudit(audit, request.reopens, deps)
    partitions.push(settled)
    addTo(tally, audit, settled, signal.aborted)
  }
  return { ...tally.result(signal.reason), partitions }
}

/** What goes wrong is part of the result. */
async function compareOne(audit: OpenAudit, deps: RunDeps): Promise<void> {
  const { stream, partition } = audit.task
  const name = { stream: stream.name, slice: partitionKey(partition) }
  deps.report({ kind: 'slice.started', ...name })
  try {
    audit.comparison = await auditPartition(audit.task, deps, audit.meter)
  } catch (error) {
    audit.error = error
  }
  const { verdict = 'failed', differences = [] } = audit.comparison ?? {}
  deps.report({ kind: 'slice.ended', ...name, proof: proofOf(verdict) ?? 'unverifiable' })
  if (differences.length > 0) {
    deps.log.warn('audit.different', { stream: name.stream, partition: name.slice, rows: sumOfRows(differences) })
  }
}

/** A questionnaire that the source no longer lists has no signups that could be asked for. */
function stillThere(questionsOf: QuestionsOf, audits: readonly OpenAudit[]): QuestionsOf {
  const lists = audits.filter(({ task }) => task.stream.listsQuestions)
  return (channelId) => {
    const list = lists.find(({ task }) => task.partition.channel === channelId)
    const hasKey = list?.comparison?.hasKey ?? (() => true)
    return questionsOf(channelId).filter((questionId) => hasKey(questionId))
  }
}

function addTo(tally: Tally, { task, error }: OpenAudit, settled: PartitionAudit, isEnding: boolean): void {
  const { stream, partition } = task
  const slice = { stream, partition, window: undefined, covers: undefined }
  const { verdict, calls, retries } = settled
  const proof = verdict === 'equal' && !stream.isCounted ? 'unverifiable' : proofOf(verdict)
  if (proof === undefined) tally.addCut(slice, { calls, retries })
  else if (verdict === 'failed' && error === undefined) tally.addNotBegun(slice)
  else {
    const counts = { ...noCounts, calls, retries }
    const problem = error ?? (verdict === 'different' ? differenceError(stream, settled) : undefined)
    const ended = { kind: 'ended', proof, counts, error: problem, found: undefined, hasNewHeaders: false } as const
    tally.add(slice, ended, isEnding)
  }
}

function differenceError(
  stream: Stream,
  { partition, differences }: PartitionAudit,
): LivehouseError<'audit.difference'> {
  const rows = sumOfRows(differences)
  const [first, ...others] = differences.map((each) => describeDifference(each, rowKeyColumn(stream)))
  const rest = others.length === 0 ? '' : `; and ${others.length} more differences`
  const message = `${stream.name} ${partition}: ${first ?? ''}${rest}`
  return new LivehouseError('audit.difference', message, { stream: stream.name, partition, rows })
}

/** What is to be compared. */
interface AuditScope {
  readonly channels: readonly PlannedChannel[]
  /** Undefined for all that is covered. */
  readonly window: Window | undefined
}

const ALL_TIMES: Window = { from: parseWallTime('1000-01-01') ?? 0, to: parseWallTime('9999-12-31') ?? 0 }

/** Of lists with times what the ledger covers is compared: nothing else is claimed to be there. */
async function planAudit(
  db: Kysely<Database>,
  streams: readonly Stream[],
  { channels, window }: AuditScope,
  questionsOf: QuestionsOf,
): Promise<readonly AuditTask[]> {
  const tasks: AuditTask[] = []
  const hasRange = window !== undefined
  for (const stream of streams) {
    const wanted = stream.isTimeFiltered
      ? wantedPartitions(stream, channels, questionsOf, window ?? ALL_TIMES)
      : partitionsOf(stream, channels, questionsOf).map(({ partition }) => {
          return { of: partition, partition: partitionKey(partition), window: undefined }
        })
    const ledger = await readLedger(db, stream.name, wanted)
    for (const { of, partition } of wanted) {
      const { covered = [], open = [] } = ledger.get(partition) ?? {}
      const accepted = open.filter(({ kind }) => kind === 'accepted')
      tasks.push({ stream, partition: of, covered: stream.isTimeFiltered ? covered : undefined, hasRange, accepted })
    }
  }
  return tasks
}

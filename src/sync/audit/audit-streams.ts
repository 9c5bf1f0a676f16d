import PQueue from 'p-queue'
import { LivehouseError } from '../../core/errors.ts'
import { isEmptyWindow, noCounts, partitionKey, placeOf, subtractWindows, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { parseWallTime, type WallTime } from '../../core/wall-clock.ts'
import { areOverlapping, type LedgerEntry, readLedger } from '../../ledger/open-readings.ts'
import { readAcceptances } from '../../ledger/slices/acceptances.ts'
import { forgetCoverage, readReopened, recordReopened } from '../../ledger/slices/forget-coverage.ts'
import { rowKeyColumn } from '../../store/load/table-part.ts'
import { partitionsOf, type QuestionsOf, type SyncPlan, wantedPartitions } from '../plan-slices.ts'
import { createEndableRun } from '../record-slice.ts'
import { failedBy } from '../run-slice.ts'
import { isByQuestionnaire, isServed } from '../run-streams.ts'
import { createCallMeter } from '../slice-reading.ts'
import type { RunDeps } from '../slice-work.ts'
import { createTally, type Tally } from '../tally.ts'
import { claimableUntil } from '../windows.ts'
import { auditPartition } from './audit-partition.ts'
import type { AuditTask, Comparison, Difference, PartitionAudit } from './comparison.ts'
import { describeDifference, isRepairedByReading, noComparison, proofOf, sumOfRows } from './comparison.ts'

export interface AuditRequest extends Pick<SyncPlan, 'streams' | 'channels' | 'historyFrom'> {
  /** Whether a stream is not compared, because it is not meant to be read. */
  readonly isLeftOut: (stream: Stream) => boolean
  /** Undefined for everything that is covered. */
  readonly window: Window | undefined
  readonly questionsOf: QuestionsOf
  /** Whether the next sync must read the ranges that differ again. */
  readonly reopens: boolean
  readonly concurrency: number
}

/**
 * Compares the source's totals with the warehouse, partition by partition, and returns the differences. It writes
 * nothing but the ranges to read again, into the ledger. A partition that fails does not stop the others.
 */
export async function auditStreams(request: AuditRequest, deps: RunDeps) {
  const { deps: inner, isFatal, endRun } = createEndableRun(deps)
  const { signal } = inner
  const queue = new PQueue({ concurrency: request.concurrency })
  const tally = createTally(request.streams)
  const partitions: PartitionAudit[] = []
  let endedBy: AuditTask | undefined
  const audit = (task: AuditTask) => async () => {
    const audited = await auditOne(task, request.reopens, inner)
    if (isFatal(audited.error)) {
      endRun(audited.error)
      endedBy ??= task
    }
    return { task, audited }
  }
  // Signups come second, when it is known which questionnaires still exist.
  for (const isSecond of [false, true]) {
    const streams = request.streams.filter((each) => isByQuestionnaire(each) === isSecond)
    const questionsOf = isSecond ? await questionsToAudit(request, partitions, inner) : () => []
    const tasks = await planAudit(deps, streams, request, questionsOf)
    for (const { name } of streams) {
      const slices = tasks.filter(({ stream }) => stream.name === name).length
      deps.report({ kind: 'stream.planned', stream: name, slices })
    }
    const ended = await queue.addAll(tasks.map(audit))
    partitions.push(...ended.map(({ audited }) => audited))
    // An error that ends the run is reported once, for the partition that met it.
    const order = ended.toSorted((one, other) => Number(other.task === endedBy) - Number(one.task === endedBy))
    for (const { task, audited } of order) addTo(tally, task, audited, signal.aborted)
  }
  return { ...tally.result(signal.reason), partitions }
}

/** Audits one partition. Errors are returned as `failed`; one that did not begin is `failed` without an error. */
async function auditOne(task: AuditTask, reopens: boolean, deps: RunDeps): Promise<PartitionAudit> {
  const place = placeOf(task)
  const meter = createCallMeter()
  const failed = (error: unknown): PartitionAudit => {
    return { ...noComparison, ...place, ...meter.counts(), verdict: 'failed', reopened: [], error }
  }
  if (deps.signal.aborted) return failed(undefined)
  const name = { stream: place.stream, slice: place.partition }
  deps.report({ kind: 'slice.started', ...name })
  let audited: PartitionAudit
  try {
    const comparison = await auditPartition(task, deps, meter)
    audited = { ...(await conclude(task, comparison, reopens, deps)), ...place, ...meter.counts(), error: undefined }
  } catch (error) {
    audited = failed(error)
  }
  deps.report({ kind: 'slice.ended', ...name })
  const rows = sumOfRows(audited.differences)
  if (audited.differences.length > 0) deps.log.warn('audit.different', { ...place, rows })
  return audited
}

/**
 * Concludes a comparison. Differences that an operator has accepted are no fault. With `reopens`, the ranges of the
 * others are uncovered, so that the next sync reads them again.
 */
async function conclude(task: AuditTask, comparison: Comparison, reopens: boolean, { db, clock }: RunDeps) {
  const { stream } = task
  const place = placeOf(task)
  const open = stream.isTimeFiltered ? await readReopened(db, place) : []
  const compared = areAccepted(comparison.differences, task) ? 'accepted' : comparison.verdict
  const verdict = open.length > 0 ? 'different' : compared
  // Every sync reads lists without a time filter as a whole anyway.
  const isToReopen = reopens && verdict === 'different' && stream.isTimeFiltered
  const repaired = comparison.differences.filter((each) => isToReopen && isRepairedByReading(each, stream))
  const reopened: Window[] = []
  // Only covered ranges are reopened, because a missing row with an impossible time may lie anywhere.
  const coveredOf = (window: Window) => subtractWindows(window, subtractWindows(window, task.covered ?? []))
  for (const window of unionOf(repaired.flatMap((each) => (each.window ? coveredOf(each.window) : [])))) {
    const { partition } = place
    const forgotten = await forgetCoverage(db, { streams: [stream.name], channels: undefined, partition, window })
    if (forgotten.length === 0) continue
    await recordReopened(db, place, window, new Date(clock.now()))
    reopened.push(window)
  }
  const unread = open.map((window) => ({ kind: 'reopened', rows: 0, window }) as const)
  return { ...comparison, differences: [...comparison.differences, ...unread], verdict, reopened }
}

/** Whether differences are accepted: only withheld rows can be, in the range and up to the size of an acceptance. */
function areAccepted(differences: readonly Difference[], { accepted, acceptances }: AuditTask): boolean {
  if (differences.length === 0 || differences.some(({ kind }) => kind !== 'withheld')) return false
  const overlapping = accepted.filter((part) => differences.some(({ window }) => areOverlapping(part.window, window)))
  // Under one acceptance, the reading of each night may have recorded the same missing rows.
  const byAcceptance = Map.groupBy(overlapping, ({ acceptanceId }) => acceptanceId ?? '')
  const allowances = acceptances.map(({ acceptanceId, missingRows }) =>
    Math.min(missingRows, byAcceptance.get(acceptanceId)?.reduce((sum, part) => sum + (part.missingRows ?? 0), 0) ?? 0),
  )
  return sumOfRows(differences) <= allowances.reduce((sum, rows) => sum + rows, 0)
}

/** Leaves out questionnaires that the source no longer lists and has no signups of, as a sync does. */
async function questionsToAudit(request: AuditRequest, audited: readonly PartitionAudit[], deps: RunDeps) {
  const { streams, channels, questionsOf } = request
  const names = new Set(streams.flatMap(({ listsQuestions, name }) => (listsQuestions ? [name] : [])))
  const lists = new Map(audited.flatMap((each) => (names.has(each.stream) ? [[each.partition, each.hasKey]] : [])))
  const gone = new Set<string>()
  for (const stream of streams.filter(isByQuestionnaire))
    for (const { channelId: channel } of channels)
      for (const question of questionsOf(channel))
        if (lists.get(partitionKey({ channel }))?.(question) === false)
          if (!(await isServed(stream, { channel, question }, deps))) gone.add(partitionKey({ channel, question }))
  return (channel: string) => questionsOf(channel).filter((question) => !gone.has(partitionKey({ channel, question })))
}

function addTo(tally: Tally, { stream, partition }: AuditTask, audited: PartitionAudit, isEnding: boolean): void {
  const slice = { stream, partition, window: undefined, covers: undefined }
  const { verdict, calls, retries, error } = audited
  const proof = verdict === 'equal' && !stream.isCounted ? 'unverifiable' : proofOf[verdict]
  if (proof === undefined) tally.addCut(slice, { calls, retries })
  else if (verdict === 'failed' && error === undefined) tally.addNotBegun(slice)
  else {
    const counts = { ...noCounts, calls, retries }
    const problem = error ?? (verdict === 'different' ? differenceError(stream, audited) : undefined)
    tally.add(slice, { ...failedBy(problem), proof, counts }, isEnding)
  }
}

function differenceError(stream: Stream, { partition, differences }: PartitionAudit) {
  const [first, ...others] = differences.map((each) => describeDifference(each, rowKeyColumn(stream)))
  const rest = others.length === 0 ? '' : `; and ${others.length} more differences`
  return new LivehouseError('audit.difference', `${stream.name} ${partition}: ${first ?? ''}${rest}`, {})
}

const ALL_TIMES: Window = { from: parseWallTime('1000-01-01') ?? 0, to: parseWallTime('9999-12-31') ?? 0 }

/** Joins windows that overlap, by taking away from all times those outside of the windows. */
function unionOf(windows: readonly Window[]): readonly Window[] {
  return subtractWindows(ALL_TIMES, subtractWindows(ALL_TIMES, windows))
}

/**
 * Plans what to compare. Of a list with a time filter that is the covered range, and also uncovered ranges if a range
 * was requested, if nothing has been read yet, or if the last reading failed or was short. It is no fault that rows
 * since the last reading are not covered, unless the requested range has ended.
 */
async function planAudit(
  { db, claimableMs, wallTimeAt }: RunDeps,
  streams: readonly Stream[],
  { channels, window, historyFrom, isLeftOut }: AuditRequest,
  questionsOf: QuestionsOf,
): Promise<readonly AuditTask[]> {
  const tasks: AuditTask[] = []
  const claimable = claimableUntil(wallTimeAt(claimableMs()))
  const uncoveredOf = ({ covered, gaps, lastLanded, open }: LedgerEntry, wanted: Window): readonly Window[] => {
    const isUnread = lastLanded === undefined
    if (window === undefined && !isUnread) {
      const failed = open.flatMap((reading) => (reading.kind === 'problem' ? (reading.window ?? []) : []))
      return unionOf(failed).flatMap((range) => subtractWindows(range, covered))
    }
    const until = isUnread || wanted.to <= claimable ? claimable : (covered.at(-1)?.to ?? 0)
    const since = (from: WallTime) => (from === ALL_TIMES.from ? historyFrom : from)
    return gaps
      .map(({ from, to }) => ({ from: since(from), to: Math.min(to, until) }))
      .filter((gap) => !isEmptyWindow(gap))
  }
  const acceptances = await readAcceptances(db)
  for (const stream of streams) {
    const wanted = stream.isTimeFiltered
      ? wantedPartitions(stream, channels, questionsOf, window ?? ALL_TIMES)
      : partitionsOf(stream, channels, questionsOf).map(({ partition }) => {
          return { of: partition, partition: partitionKey(partition), window: undefined }
        })
    const ledger = await readLedger(db, stream.name, wanted)
    for (const { of, partition, window: range } of wanted) {
      const entry = ledger.get(partition)
      const accepted = entry?.open.filter(({ kind }) => kind === 'accepted') ?? []
      const uncovered = entry && range ? uncoveredOf(entry, range) : []
      const covered = range && (entry?.covered ?? [])
      tasks.push({ stream, partition: of, covered, uncovered, accepted, acceptances, isLeftOut: isLeftOut(stream) })
    }
  }
  return tasks
}

import { partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { forgetCoverage } from '../../ledger/coverage.ts'
import { meets } from '../../ledger/open-readings.ts'
import { readReopened, recordReopened } from '../../ledger/settled-ranges.ts'
import { mergeWindows } from '../plan-windows.ts'
import type { RunDeps } from '../slice-work.ts'
import {
  type AuditTask,
  type Comparison,
  type Difference,
  isRepairedByReading,
  nothingCompared,
  type OpenAudit,
  type PartitionAudit,
  sumOfRows,
} from './partition-audit.ts'

/**
 * Ends the audit of a partition: what an operator has acknowledged is accepted, what differs is to be read again. `reopens`: by the next
 * sync, whatever the ledger covers.
 */
export async function settleAudit(
  { task: { stream, partition, accepted }, meter, comparison, error }: OpenAudit,
  reopens: boolean,
  { db, clock }: Pick<RunDeps, 'db' | 'clock'>,
): Promise<PartitionAudit> {
  const place = { stream: stream.name, partition: partitionKey(partition), ...meter.counts() }
  if (comparison === undefined || error !== undefined)
    return { ...nothingCompared, ...comparison, ...place, verdict: 'failed', reopened: [], error }
  const open = stream.isTimeFiltered ? await readReopened(db, stream.name, place.partition) : []
  const found = areAccepted(comparison.differences, accepted) ? 'accepted' : comparison.verdict
  const verdict = open.length > 0 ? 'different' : found
  const wanted = reopens && verdict === 'different' ? windowsToReopen(comparison, stream) : []
  const reopened: Window[] = []
  for (const window of wanted) {
    const forgotten = await forgetCoverage(db, {
      streams: [stream.name],
      channels: undefined,
      partition: place.partition,
      window,
    })
    if (forgotten.length === 0) continue
    await recordReopened(db, { stream: stream.name, partition: place.partition }, window, new Date(clock.now()))
    reopened.push(window)
  }
  const unread = open.map((window) => ({ kind: 'reopened', rows: 0, window }) as const)
  const differences = [...comparison.differences, ...unread]
  return { ...comparison, ...place, differences, verdict, reopened, error: undefined }
}

/** Lists without times are read whole by every sync anyway. */
function windowsToReopen({ differences }: Comparison, stream: Stream): readonly Window[] {
  if (!stream.isTimeFiltered) return []
  const repaired = differences.filter((difference) => isRepairedByReading(difference, stream))
  return mergeWindows(repaired.flatMap(({ window }) => window ?? []))
}

/** Only what the source withholds can have been accepted: where that was acknowledged, and up to its size. */
function areAccepted(differences: readonly Difference[], accepted: AuditTask['accepted']): boolean {
  if (differences.length === 0 || differences.some(({ kind }) => kind !== 'withheld')) return false
  const meeting = accepted.filter((part) => differences.some(({ window }) => meets(part.window, window)))
  return sumOfRows(differences) <= meeting.reduce((sum, { missingRows }) => sum + (missingRows ?? 0), 0)
}

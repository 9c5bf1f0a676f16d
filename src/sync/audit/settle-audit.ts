import { type Partition, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { type Acceptance, isStanding } from '../../ledger/acceptances.ts'
import { forgetCoverage } from '../../ledger/coverage.ts'
import { readReopened, recordReopened } from '../../ledger/settled-ranges.ts'
import { mergeWindows } from '../plan-windows.ts'
import type { RunDeps } from '../slice-work.ts'
import {
  type Comparison,
  type Difference,
  isRepairedByReading,
  nothingCompared,
  type OpenAudit,
  type PartitionAudit,
} from './partition-audit.ts'

export interface SettleOptions {
  readonly takeAllowance: TakeAllowance
  /** Whether the next sync is to read again what differs. */
  readonly reopens: boolean
}

/** Ends the audit of a partition: what an operator has acknowledged is accepted, what differs is to be read again. */
export async function settleAudit(
  { task: { stream, partition }, meter, comparison, error }: OpenAudit,
  { takeAllowance, reopens }: SettleOptions,
  { db, clock }: Pick<RunDeps, 'db' | 'clock'>,
): Promise<PartitionAudit> {
  const place = { stream: stream.name, partition: partitionKey(partition), ...meter.counts() }
  if (comparison === undefined || error !== undefined)
    return { ...nothingCompared, ...comparison, ...place, verdict: 'failed', reopened: [], error }
  const open = stream.isTimeFiltered ? await readReopened(db, stream.name, place.partition) : []
  const isAccepted = takeAllowance(stream, partition, comparison.differences)
  const found = isAccepted ? 'accepted' : comparison.verdict
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

/** Whether all these differences of a partition have been accepted: then that much less is left of what was acknowledged. */
type TakeAllowance = (stream: Stream, partition: Partition, differences: readonly Difference[]) => boolean

/**
 * Only what the source withholds can have been accepted: where it was acknowledged, and up to its size over all partitions of
 * the channel together, as a sync takes it.
 */
export function createAllowance(acceptances: readonly Acceptance[], nowMs: number): TakeAllowance {
  const standing = acceptances
    .filter((each) => isStanding(each, nowMs))
    .toSorted((a, b) => a.missingRows - b.missingRows)
  let taken: ReadonlyMap<string, number> = new Map()
  return ({ name }, { channel = null }, differences) => {
    const ofChannel = standing.filter(({ stream, channelId }) => stream === name && channelId === channel)
    const next = new Map(taken)
    for (const difference of differences) {
      if (difference.kind !== 'withheld') return false
      const { rows } = difference
      const room = ofChannel.find(
        (each) => meets(each, difference.window) && (next.get(each.acceptanceId) ?? 0) + rows <= each.missingRows,
      )
      if (room === undefined) return false
      next.set(room.acceptanceId, (next.get(room.acceptanceId) ?? 0) + rows)
    }
    taken = next
    return differences.length > 0
  }
}

function meets({ windows }: Acceptance, window: Window | undefined): boolean {
  if (window === undefined) return windows.length === 0
  return windows.some(({ from, to }) => from < window.to && window.from < to)
}

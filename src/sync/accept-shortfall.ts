import { takeAcceptance } from '../ledger/acceptances.ts'
import type { HeldVerdict } from './hold-against-earlier.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** Lets a shortfall pass that an operator has acknowledged, up to its size and until it expires. It is never proven by that. */
export async function acceptShortfall(
  { stream, partition, window }: Slice,
  verdict: HeldVerdict,
  { db, clock, runId }: RunDeps,
): Promise<HeldVerdict> {
  const { proof, missingRows = 0 } = verdict
  if (proof !== 'short' || missingRows <= 0) return verdict
  const channelId = partition.channel ?? null
  const now = new Date(clock.now())
  const acceptanceId = await takeAcceptance(db, { stream: stream.name, channelId, window, missingRows, runId, now })
  return acceptanceId === undefined ? verdict : { ...verdict, proof: 'accepted', acceptanceId }
}

import { takeAcceptance } from '../ledger/acceptances.ts'
import { judgeDrop } from '../ledger/surprise-drop.ts'
import { countHeld } from '../store/table-part.ts'
import type { Extraction, Verdict } from './judge-walk.ts'
import type { RunDeps, Slice } from './slice-work.ts'

export interface HeldVerdict {
  readonly proof: Verdict['proof'] | 'accepted' | 'failed'
  readonly reason: string | undefined
  /** Whether surprisingly few rows were found, believed or not. */
  readonly isDrop: boolean
  /** How many rows are missing; undefined where none is known to be. */
  readonly missingRows?: number
  /** The acceptance by which a shortfall is accepted. */
  readonly acceptanceId?: string
}

/** What a reading came to. */
interface Finding {
  readonly verdict: Verdict
  readonly found: Pick<Extraction['found'], 'count'>
  readonly summary: Pick<Extraction['summary'], 'totals' | 'distinct' | 'rejected'>
}

/**
 * Holds what a reading found against what was there before: a walk against the last one, a window against the warehouse. A
 * surprise drop is never green at once, whatever the source's total says.
 * @param lastWalk rows of the last walk; undefined where windows are read, and before the first
 */
export async function compareWithEarlier(
  { stream, partition, window }: Slice,
  { verdict, found, summary }: Finding,
  { db, clock, timeZone }: RunDeps,
  lastWalk: number | undefined,
): Promise<HeldVerdict> {
  if (verdict.isAtRest === false) return { ...verdict, isDrop: false }
  if (verdict.proof === 'short') {
    const { totals, distinct, rejected } = summary
    return { ...verdict, isDrop: false, missingRows: (totals?.largest ?? 0) - distinct - rejected.length }
  }
  const held = window === undefined ? (lastWalk ?? 0) : await countHeld(db, { stream, partition, window, timeZone })
  const { count } = found
  const now = new Date(clock.now())
  const answer = await judgeDrop(db, { stream: stream.name, partition, window, held, found: count, now })
  if (answer !== 'surprise') return { ...verdict, isDrop: answer === 'agreed' }
  const reason = `only ${count} rows came where there were ${held}; it is believed when a reading at least an hour later agrees`
  return { proof: 'short', reason, isDrop: true, missingRows: held - count }
}

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

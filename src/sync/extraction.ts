import type { Row } from '../core/column.ts'
import type { ChannelFacts } from '../core/stream.ts'
import type { Verdict } from './judge-walk.ts'
import type { WalkSummary } from './walk.ts'

/** Which rows a reading found at the source, by key (without the parts that the partition names). */
export interface FoundRows {
  /** Of the whole walk, or those that lie in the window. */
  readonly count: number
  readonly has: (key: string) => boolean
}

/** What reading a slice brought. Its rows have been given to the loader, but for those that came more than once. */
export interface Extraction {
  readonly summary: WalkSummary
  readonly verdict: Verdict
  /** Rows of the slice's window, or of the walk. */
  readonly found: FoundRows
  /** Whether it was read once: all rows that it has written are those that it found. */
  readonly isOnlyReading: boolean
  /**
   * Rows without an id of a reading that came to its end and fell short: they are written only where the shortfall is accepted.
   * None of any other reading.
   */
  readonly unproven?: readonly Row[]
  /** Of rows without an id: how many the largest page held; undefined where all lay on one. */
  readonly pageSize?: number | undefined
  readonly channelFacts: ChannelFacts | undefined
  /** Column headers as JSON text (API 4.11), also of an answer without rows; undefined where there are none. */
  readonly title: string | undefined
}

/** A reading that does not prove itself is repeated up to two times; each is judged alone. */
export const MOST_READINGS = 3

/** Whether more readings would prove no more. */
export function isSettled({ proof }: Verdict): boolean {
  return proof === 'verified' || proof === 'unverifiable'
}

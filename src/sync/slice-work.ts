import type PQueue from 'p-queue'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { FetchPage } from '../core/page.ts'
import type { ReportProgress } from '../core/outcome.ts'
import type { Partition, Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { Db } from '../store/database.ts'

/** A piece of extraction. */
export interface Slice {
  readonly stream: Stream
  readonly partition: Partition
  /** The range of the rows that it brings, half-open; the service is asked for more. Undefined for a whole list. */
  readonly window: Window | undefined
  /** The range that the service is asked for; a minute more than the window on both sides when not given. */
  readonly asked?: Window | undefined
  /** What it covers once it has landed: at most its window. Undefined for a whole list. */
  readonly covers: Window | undefined
  readonly backfillId?: string | undefined
  /** How many of its pages have landed, if it was begun before: then it is read before the others of its partition. */
  readonly pagesRead?: number
  /** Whether its next page has been refused for days: then it waits for its partition's turn. */
  readonly isRefused?: boolean
  /** How long its rows may still change; as the stream says when not given. */
  readonly lookbackDays?: number
  /** Whether this run has written rows of it already, before it was cut out of a longer one. */
  readonly hasWritten?: boolean
  /** How many rows the service said lie in it when it was cut out of a longer one. */
  readonly announced?: number | undefined
  /** Whether it was cut out of a range of which the service has served only a part. */
  readonly isShortened?: boolean
  /** Whether the longer slice that it was cut from has shown that rows without an id are found by their time. */
  readonly isFound?: boolean
  /**
   * The search for rows that keep an answer from its proof. Rows with an id have landed all the same: their list has
   * one in each run. Of others the parts of an answer share one, which goes on while it proves some.
   */
  readonly search?: { cuts: number; proven: number } | undefined
}

/** What every slice of a run works with. */
export interface RunDeps {
  readonly db: Db
  readonly fetchPage: FetchPage
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly report: ReportProgress
  /** The service's zone. */
  readonly timeZone: string
  /** The instant (ms) up to which rows may count as read, as the service's clock tells it. */
  readonly claimableMs: () => number
  /** What the service's clock shows at an instant. Made once a run: opening a time zone is slow. */
  readonly wallTimeAt: (instantMs: number) => WallTime
  readonly runId: string
  readonly readAhead: ReadAhead
  /**
   * Makes sure that this run still holds the partition; the last statement of each transaction that writes.
   * @throws lease.lost
   */
  readonly requireLease: (trx: Db, stream: string, partition: Partition) => Promise<void>
  /** Bounds the batches that are written at once, and so the rows that wait for the database. */
  readonly loadQueue: PQueue
  /** By stream: the longest range (seconds) of which the newest rows have come: the service serves it to its end. */
  readonly longestServed: Map<string, number>
  /** By stream: whether rows have come of a range that ends in the future, or only of one that ends now. */
  readonly rangeEnds: Map<string, 'now' | 'later'>
  /** A slice of more pages is cut: shallow pages, steady progress, cheap resume. */
  readonly pagesPerSlice: number
  /** A slice with a larger share of items that cannot be read fails. */
  readonly maxUnreadablePercent: number
}

/**
 * Bounds the pages that all lists hold together while they are read, and how many long lists are read at once: more
 * would be no faster, but each would hold rows that wait for a batch to fill. Resolves when a list of so many pages may
 * be read beyond its first.
 */
export type ReadAhead = (pages: number) => Promise<PageShare>

export interface PageShare {
  /** How many pages may be asked for or held now, the next one included: at least 1. */
  readonly pages: () => number
  readonly end: () => void
}

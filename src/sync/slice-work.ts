import type PQueue from 'p-queue'
import type { Clock } from '../core/clock.ts'
import type { Row } from '../core/column.ts'
import type { Log } from '../core/log.ts'
import type { ReportProgress } from '../core/outcome.ts'
import type { CallContext, FetchPage, ListRequest, RejectedItem } from '../core/page.ts'
import type { Counts, Partition, Proof, Window } from '../core/slice.ts'
import type { ChannelFacts, Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { SliceRecord } from '../ledger/slices/slices.ts'
import type { Db } from '../store/database.ts'

/** What is known of a slice because this run has cut it out of a longer one. */
interface CutMarks {
  /** Whether this run has already written some of its rows. */
  readonly hasWritten?: boolean
  /** The service's total of it. */
  readonly announced?: number | undefined
  /** Whether the service served only a part of the longer slice (ADR 0086). */
  readonly isShortened?: boolean
  /** Whether the service finds rows without an id by their time (ADR 0085). */
  readonly isFoundByTime?: boolean
  /**
   * Bounds the search for the rows that prevent the proof of an answer. Rows with an id land even without a proof, so
   * each of their lists has one search in a run. For other rows, the parts of an answer share one search, which goes on
   * as long as it proves some of them.
   */
  readonly search?: { cuts: number; proven: number } | undefined
}

/** A unit of extraction: a range of a partition of a stream, or a whole list. */
export interface Slice extends CutMarks {
  readonly stream: Stream
  readonly partition: Partition
  /** The range whose rows it extracts; its requests are for more. Undefined for a whole list. */
  readonly window: Window | undefined
  /** The range that is requested; by default a minute more than the window on both sides. */
  readonly requestWindow?: Window | undefined
  /** The range that it covers once it has landed, within its window. Undefined for a whole list, or for none. */
  readonly covers: Window | undefined
  readonly backfillId?: string | undefined
  /** An open slice is the first of its partition, and of the run if pages have landed and none is refused for days. */
  readonly open?: 'first' | 'in turn'
  /** For how many days its rows may still change; by default those of the stream. */
  readonly lookbackDays?: number
}

/** The totals from the answers of a walk. */
export type Totals = NonNullable<SliceRecord['totals']>

/** A row that is held back because its key may come more than once, with its item as JSON text. */
export interface HeldRow {
  readonly row: Row
  readonly raw: string
}

/** The result of a walk, which goes once through all pages of a list. */
export interface WalkSummary {
  /** Undefined if the source gives no total. */
  readonly totals: Totals | undefined
  /** The number of items. */
  readonly received: number
  /** The number of different keys, or of all rows if they have no key. */
  readonly distinct: number
  readonly rejected: readonly RejectedItem[]
  /** If rows have keys: unreadable items that also came on an earlier page, as the list moved or has two of them. */
  readonly rejectedAgain: readonly RejectedItem[]
  /** Rows whose key had already come in this walk, in the order of arrival. */
  readonly repeated: readonly Row[]
  /** The number of rows that share their key with an earlier row of their page; within one answer nothing can move. */
  readonly repeatsOnPage: number
  /** The rows that were held back, by key. Each key counts as one distinct row; the rows count nowhere else. */
  readonly heldBack: ReadonlyMap<string, readonly HeldRow[]>
  readonly degraded: number
  /** Fields that the spec does not name. */
  readonly unknownFields: ReadonlySet<string>
  readonly channelFacts: ChannelFacts | undefined
  /** Declared fields that no item had, and declared fields that no row had in a readable form. */
  readonly absentFields: ReadonlySet<string>
  readonly unreadFields: ReadonlySet<string>
}

/** What walks prove by themselves, with a reason if it is neither `verified` nor `unverifiable`. */
export interface Verdict {
  readonly proof: Exclude<Proof, 'agreed' | 'accepted' | 'failed'>
  readonly reason?: string | undefined
  /** Whether the list did not change while it was read, yet some rows came twice and others did not come. */
  readonly isStill?: boolean
  /** False if it is `short` because the list kept moving, so that the number of missing rows is unknown. */
  readonly isAtRest?: boolean
}

/** What a reading proves in the end, compared with earlier ones and with what an operator has accepted. */
export interface FullVerdict {
  readonly proof: Verdict['proof'] | 'accepted' | 'failed'
  readonly reason?: string | undefined
  /** Whether surprisingly few rows were found, even if an earlier reading agrees. */
  readonly isDrop?: boolean
  readonly missingRows?: number
  readonly acceptanceId?: string
}

/** The rows that a reading found at the source, by key (without the parts that the partition determines). */
export interface FoundRows {
  /** The number of rows in the window, or in the whole walk if there is none. */
  readonly count: number
  readonly has: (key: string) => boolean
}

/** A slice that was read. The loader has its rows, except later rows of a key that came more than once. */
export interface Extraction {
  readonly kind: 'read'
  readonly summary: WalkSummary
  readonly verdict: Verdict
  readonly found: FoundRows
  /** The minutes of all rows that came, also outside of the window; none for a whole list. */
  readonly minutes: readonly WallTime[]
  /** Rows without an id from a short reading. They are written only if an operator has accepted the shortfall. */
  readonly unproven?: readonly Row[]
  /** For rows without an id, the number of rows on the largest page; undefined if there was only one page. */
  readonly pageSize?: number | undefined
  /** Column headers as JSON text (API 4.11), also of an answer without rows; undefined if there are none. */
  readonly title?: string | undefined
}

/** A slice that was read, or that is cut into parts which must still be read. */
export type ReadResult =
  | Extraction
  | { readonly kind: 'cut'; readonly parts: readonly Slice[]; readonly hasMoved?: boolean }

/** A slice that has ended, with its results. */
export interface EndedSlice {
  readonly kind: 'ended'
  readonly proof: Proof
  /** The proofs of the other slices, if the ledger records the reading as several. */
  readonly otherProofs?: readonly Proof[]
  readonly counts: Partial<Counts>
  /** Why the slice is not green; undefined if it is. */
  readonly error: unknown
  /** Undefined if the list was not read to its end. */
  readonly found: FoundRows | undefined
}

/** A slice that was too large or not proven, and is read in parts. It covers nothing, but keyed rows may be written. */
export interface CutSlice {
  readonly kind: 'cut'
  readonly parts: readonly Slice[]
  readonly counts: Partial<Counts>
}

/** The dependencies that all slices of a run share. */
export interface RunDeps {
  readonly db: Db
  readonly fetchPage: FetchPage
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly report: ReportProgress
  /** The service's time zone. */
  readonly timeZone: string
  /** The instant (ms) up to which rows may count as read, by the service's clock. */
  readonly claimableMs: () => number
  /** The service's wall clock at an instant. */
  readonly wallTimeAt: (instantMs: number) => WallTime
  readonly runId: string
  readonly readAhead: ReadAhead
  /**
   * Checks that this run still holds the partition. Must be the last statement of each transaction that writes.
   * @throws lease.lost
   */
  readonly requireLease: (trx: Db, stream: string, partition: Partition) => Promise<void>
  /** Limits the batches that are written concurrently, and so the rows in memory that wait for the database. */
  readonly loadQueue: PQueue
  /** By stream, the longest range (in seconds) whose newest rows have come: the service serves it to its end. */
  readonly longestServed: Map<string, number>
  /** By stream, `later` if the service has returned rows of a range that ends in the future, `now` if it does not. */
  readonly rangeEnds: Map<string, 'now' | 'later'>
  /** Larger slices are cut (`mostPagesUncut`), for shallow pages, steady progress and cheap resumption. */
  readonly pagesPerSlice: number
  /** Slices with a larger share of unreadable items fail. */
  readonly maxUnreadablePercent: number
}

/**
 * Limits the pages that all lists together hold in memory, and how many long lists are read concurrently: more would be
 * no faster, but each would hold rows until a batch is full. Resolves when a list of this many pages may be read beyond
 * its first page.
 */
export type ReadAhead = (pages: number) => Promise<PageShare>

export interface PageShare {
  /** How many pages the list may request or hold now, including the next one; at least 1. */
  readonly pages: () => number
  readonly end: () => void
}

/** The requests for the pages of a list, without the numbers of the pages. */
export interface Requests {
  readonly fetchPage: FetchPage
  readonly list: ListRequest
  /** The requested page size. The service may clamp it. */
  readonly pageSize: number
  readonly readAhead: ReadAhead
  readonly context: CallContext
}

/** A page that the service refuses, although it may exist. */
export interface RefusedPage {
  readonly refusal: unknown
}

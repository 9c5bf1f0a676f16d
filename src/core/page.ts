import type { Row } from './column.ts'
import type { ErrorCode } from './errors.ts'
import type { Partition, Window } from './slice.ts'
import type { Rejection, Stream } from './stream.ts'

/** What a list is asked for, apart from the page. */
export interface ListRequest {
  readonly stream: Stream
  readonly partition: Partition
  /** As it goes on the wire, already widened; without it, all times. */
  readonly window?: Window | undefined
  /** In the other order that the stream's wire names. */
  readonly isReversed?: boolean
}

export interface PageRequest {
  readonly list: ListRequest
  /** From 1. */
  readonly page: number
  readonly pageSize: number
}

/** One answer of a list endpoint, its envelope read and its items untouched. */
export interface Page {
  /** As they came, unvalidated: objects, but rows of cells for 4.11, and anything at all where the service errs. */
  readonly items: readonly unknown[]
  /** The source's own count of all items of this request; undefined for bare arrays, and maybe on later pages. */
  readonly total: number | undefined
  /** The page number and size that the service says it served; undefined where the answer names none. */
  readonly echoedPage: number | undefined
  readonly echoedPageSize: number | undefined
  /** Column headers (4.11 only). */
  readonly title: readonly unknown[] | undefined
  /** The answer's `Date` header in milliseconds since 1970; undefined without one. */
  readonly serviceTimeMs: number | undefined
}

/** An item that became a row. */
interface ReadRow {
  readonly kind: 'row'
  readonly row: Row
  /** Fields whose value could not be read; it stands raw in `extra`. */
  readonly unreadFields: readonly string[]
  /** Fields that the spec does not know; they stand in `extra`. */
  readonly unknownFields: readonly string[]
}

/** An item that did not, with itself as JSON text. */
export interface RejectedItem extends Rejection {
  readonly raw: string
  /** The column headers over it as JSON text (API 4.11); null where there are none. */
  readonly headers: string | null
}

/** Reads one item. Pure: the same item gives the same answer. `page` is the answer that it came in. */
export type ItemReader = (item: unknown, page: Pick<Page, 'title'>) => ReadRow | RejectedItem

/** What every call to the service carries along. */
export interface CallContext {
  /** Ends the call, its waits and its retries. */
  readonly signal: AbortSignal
  /** Called before every attempt that goes out, with its number from 1: the caller counts calls and retries. */
  readonly onAttempt?: (attempt: number) => void
}

/**
 * Fetches one page: paced, retried, authorised.
 * @throws LivehouseError with an `api.…` code.
 */
export type FetchPage = (request: PageRequest, context: CallContext) => Promise<Page>

/** Where 4.8 and 4.9 expect their parameters. */
export type ListPlace = 'query' | 'body'

/** Asks for one page exactly as told. @throws LivehouseError with an `api.…` code */
export type Ask = (request: PageRequest, context: CallContext, place?: ListPlace) => Promise<Page>

/** One attempt of a call, without anything of what was asked or answered. */
export interface MeasuredCall {
  readonly endpoint: string
  /** `ok`, or its error: `api.rateLimited`, `api.timeout` … */
  readonly outcome: 'ok' | ErrorCode | 'internal'
  readonly elapsedMs: number
}

/** Never throws and never waits. */
export type OnCall = (call: MeasuredCall) => void

import type { Row } from './column.ts'
import type { ErrorCode } from './errors.ts'
import type { Partition, Window } from './slice.ts'
import type { Rejection, Stream } from './stream.ts'

/** A request for a list, without the page. */
export interface ListRequest {
  readonly stream: Stream
  readonly partition: Partition
  /** The window as it is sent, already widened; without one, the request is for all times. */
  readonly window?: Window | undefined
  /** Whether the list is requested in the reversed order that the stream's wire declares. */
  readonly isReversed?: boolean
}

export interface PageRequest {
  readonly list: ListRequest
  /** From 1. */
  readonly page: number
  readonly pageSize: number
}

/** One answer of a list endpoint, with the envelope parsed and the items left as they are. */
export interface Page {
  /** Not validated: objects, or arrays of cells for 4.11, or anything at all if the service errs. */
  readonly items: readonly unknown[]
  /** The source's own count of all items of the list; undefined for bare arrays, and perhaps on later pages. */
  readonly total: number | undefined
  /** The page number and size that the answer says it holds; undefined if it does not say. */
  readonly echoedPage: number | undefined
  readonly echoedPageSize: number | undefined
  /** Column headers (4.11 only). */
  readonly title: readonly unknown[] | undefined
  /** The answer's `Date` header in milliseconds since 1970; undefined without one. */
  readonly serviceTimeMs: number | undefined
}

/** An item that was read into a row. */
interface ReadRow {
  readonly kind: 'row'
  readonly row: Row
  /** Fields whose value could not be read; `extra` holds the raw values. */
  readonly unreadFields: readonly string[]
  /** Fields that the spec does not name; `extra` holds them. */
  readonly unknownFields: readonly string[]
}

/** An item that could not be read into a row. `raw` is the item as JSON text. */
export interface RejectedItem extends Rejection {
  readonly raw: string
  /** The column headers of its page as JSON text (API 4.11); null if the page has none. */
  readonly headers: string | null
}

/** Reads one item of `page`. Pure: the same item always gives the same result. */
export type ItemReader = (item: unknown, page: Pick<Page, 'title'>) => ReadRow | RejectedItem

/** Parameters of every call to the service. */
export interface CallContext {
  /** Ends the call, its waits and its retries. */
  readonly signal: AbortSignal
  /** Called before each attempt with its number, from 1, so that the caller can count calls and retries. */
  readonly onAttempt?: (attempt: number) => void
}

/**
 * Fetches one page: paced, retried, authorised.
 * @throws LivehouseError with an `api.…` code.
 */
export type FetchPage = (request: PageRequest, context: CallContext) => Promise<Page>

/** Where 4.8 and 4.9 expect their parameters. */
export type ListPlace = 'query' | 'body'

/** Requests one page with exactly these parameters. @throws LivehouseError with an `api.…` code */
export type Ask = (request: PageRequest, context: CallContext, place?: ListPlace) => Promise<Page>

/** The measurements of one attempt of a call, without contents of the request or the answer. */
export interface MeasuredCall {
  readonly endpoint: string
  /** `ok`, or the code of the error, such as `api.timeout`. */
  readonly outcome: 'ok' | ErrorCode | 'internal'
  readonly elapsedMs: number
}

/** Never throws and never waits. */
export type OnCall = (call: MeasuredCall) => void

/** What a list endpoint is asked for, apart from the page. One member an endpoint; times are wall-clock text (API 2). */
export type ListRequest =
  | ({ readonly endpoint: 'visitorList' } & VisitorListQuery)
  | ({ readonly endpoint: 'userRecordList' } & WatchRecordQuery)
  | ({ readonly endpoint: 'userRecords' } & WatchRecordQuery)
  | ({ readonly endpoint: 'giftRunning' } & GiftQuery)
  | ({ readonly endpoint: 'getQuestionList' } & QuestionnaireQuery)
  | ({ readonly endpoint: 'signupRecord' } & SignupQuery)
  | { readonly endpoint: 'managers' }
  | ({ readonly endpoint: 'managersUsage' } & ManagerUsageQuery)

export type ListEndpoint = ListRequest['endpoint']

/** API 4.7. */
export interface VisitorListQuery {
  readonly channelId: string
  /** `0` all visitors, `1` without those that watched less than a minute. */
  readonly filter: '0' | '1'
  readonly direction: 'desc' | 'asc'
}

/** API 4.5 and 4.6. `YYYY-MM-DD HH:MM:SS`. */
export interface WatchRecordQuery {
  readonly channelId: string
  readonly startTime?: string
  readonly endTime?: string
  /** `0` all records, `1` without viewers that did not watch. */
  readonly filterWatchTime: 0 | 1
}

/** API 4.12. */
export interface GiftQuery {
  readonly channelId: string
  readonly type: 'cash' | 'prop'
  readonly startTime?: string
  readonly endTime?: string
}

/** API 4.10. */
export interface QuestionnaireQuery {
  readonly channelId: string
}

/** API 4.11. */
export interface SignupQuery {
  readonly channelId: string
  readonly questionId: string
  readonly startTime?: string
  readonly endTime?: string
}

/** API 4.8. */
export interface ManagerUsageQuery {
  /** Exact match when not empty. */
  readonly username?: string
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
  /** The source's own count of all items of this request; undefined for bare arrays (4.6, 4.12). */
  readonly total: number | undefined
  /** The page number and size that the service says it served; undefined where the answer names none. */
  readonly echoedPage: number | undefined
  readonly echoedPageSize: number | undefined
  /** Column headers (4.11 only). */
  readonly title: readonly unknown[] | undefined
  /** The answer's `Date` header in milliseconds since 1970; undefined without one. */
  readonly serviceTimeMs: number | undefined
}

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

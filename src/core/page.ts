import type { Partition, Window } from './slice.ts'
import { endpointOf, type Stream } from './stream.ts'

/** What a list is asked for, apart from the page. */
export interface ListRequest {
  readonly stream: Stream
  readonly partition: Partition
  /** As it goes on the wire, already widened; all times where there is none. */
  readonly window?: Window | undefined
}

/** `LIST channel 9 type cash`, for messages. */
export function describeList({ stream, partition }: ListRequest): string {
  const parts = ['channel', ...Object.values(stream.wire.parts ?? {})] as const
  const names = parts.flatMap((part) => (partition[part] === undefined ? [] : [`${part} ${partition[part]}`]))
  return [endpointOf(stream), ...names].join(' ')
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

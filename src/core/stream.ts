import type { Columns } from './column.ts'
import type { ListRequest, Page } from './page.ts'
import type { Partition, Window } from './slice.ts'

export const streamNames = [
  'visitors',
  'watch_records',
  'watch_records_v1',
  'gifts',
  'questionnaires',
  'signups',
  'managers',
  'manager_usage',
] as const

export type StreamName = (typeof streamNames)[number]

/** An item that cannot become a row; it goes to quarantine and counts in the proof. */
export interface Rejection {
  readonly kind: 'rejected'
  /** One sentence with the value that shows it. */
  readonly reason: string
  /** Where in the item, such as `user_id`; empty for the item itself. */
  readonly path: string
}

/** An item as fields by name. */
export interface ItemFields {
  readonly kind: 'fields'
  readonly fields: Readonly<Record<string, unknown>>
}

/** What an item tells about its channel (API 2.5: id, uin and name are repeated on every visitor). */
export interface ChannelFacts {
  readonly name: string | null
  readonly adminId: string | null
}

/**
 * A stream is a value: what to ask, and how to read a row. One file each in `src/streams`. From its columns come the row's
 * type, the load statement, the conformance test and the data dictionary.
 */
export interface Stream {
  readonly name: StreamName
  /** Of schema `livehouse`. */
  readonly table: string
  /** Of the spec, such as `4.7`. */
  readonly section: string
  /** What a row of the table is, for analysts. */
  readonly comment: string
  /** In the order of the table; `extra`, `run_id`, `inserted_at`, `changed_at` and `removed_at` are not listed. */
  readonly columns: Columns
  /** The table's primary key. */
  readonly key: readonly string[]
  /** What one partition is: the account, a channel, each gift type of a channel, or each questionnaire of a channel. */
  readonly partitionedBy: 'account' | 'channel' | 'channel/type' | 'channel/question'
  /** The largest page that the spec allows. */
  readonly pageSize: number
  /** Whether the service filters by time; without a filter a slice is a walk over the whole list. */
  readonly isTimeFiltered: boolean
  /** Whether rows get `removed_at` when proven reads no longer find them. */
  readonly marksRemoved: boolean
  /** Every parameter explicit: the service's defaults differ. `window` as it goes on the wire, already widened. */
  readonly request: (partition: Partition, window: Window | undefined) => ListRequest
  /** Turns an item into fields by name; the default takes an object as it is. */
  readonly readItem?: (item: unknown, page: Page) => ItemFields | Rejection
  /** What else makes an item unacceptable in this partition. */
  readonly checkItem?: (fields: Readonly<Record<string, unknown>>, partition: Partition) => Rejection | undefined
  /** Fields that the spec knows and that have no column here; they do not go to `extra`. */
  readonly otherFields: readonly string[]
  readonly channelFacts?: (item: unknown) => ChannelFacts | undefined
  /** The column by which the latest of several rows with one key is told (a real duplicate in the source's list). */
  readonly freshnessColumn?: string
}

/** A declaration whose key and freshness column are columns of its own. */
export type StreamDeclaration<C extends Columns> = Omit<Stream, 'columns' | 'key' | 'freshnessColumn'> & {
  readonly columns: C
  readonly key: readonly (keyof C & string)[]
  readonly freshnessColumn?: keyof C & string
}

/** Checks a declaration against its own columns and keeps their precise types, for `RowOf`. */
export function defineStream<const C extends Columns>(stream: StreamDeclaration<C>): Stream & { readonly columns: C } {
  return Object.freeze(stream)
}

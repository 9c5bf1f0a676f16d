import type { Columns, PartitionPart, Row, Words } from './column.ts'
import type { Partition } from './slice.ts'

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

/** How rows that the source gives no id are told apart. */
export interface RowIdentity {
  /** The key column that holds the identity, and the column of the number among equal ones. */
  readonly keyColumn: string
  readonly occurrenceColumn: string
  /** Columns that never change. Where one cannot be read, the item goes to quarantine: it is no row yet. */
  readonly of: readonly string[]
  /** One of these, by which a row belongs to a window. Compared by the minute: the service may leave out seconds. */
  readonly timeColumn: string
}

/**
 * Two streams that write one table, each with its version of a row. The higher version takes a row over entirely; the
 * lower inserts, and updates only rows of its own.
 */
export interface TableVersions {
  /** Holds the version that a row is of. */
  readonly column: string
  readonly own: number
  readonly other: { readonly stream: string; readonly version: number }
  /** Columns that are equal (times to the minute) where one key means one record; what is NULL contradicts nothing. */
  readonly sameIn: readonly string[]
}

/** A table that is written: a stream's own, or that of its children. */
export interface LoadTable {
  /** Of schema `livehouse`. */
  readonly table: string
  /** What a row of the table is, for analysts. */
  readonly words: Words
  /** In the order of the table; `removed_at`, `extra`, `run_id`, `inserted_at` and `changed_at` are not listed. */
  readonly columns: Columns
  /** The table's primary key. */
  readonly key: readonly string[]
  /** Whether rows get `removed_at` when proven reads no longer find them. */
  readonly marksRemoved: boolean
  /** The column that shows which of several rows with one key is the latest (duplicates in the source's list). */
  readonly freshnessColumn?: string
  /** Only where another stream writes the same table. */
  readonly versions?: TableVersions
}

/** Rows of a second table that belong to a row and are replaced with it. */
export interface ChildTable extends LoadTable {
  /** The column that numbers the children of one row from 1; the rest of the key is the parent's. */
  readonly numberColumn: string
  readonly rowsOf: (parent: Row) => readonly Row[]
}

/** What an item tells about its channel (API 2.5: id, uin and name are repeated on every visitor). */
export interface ChannelFacts {
  readonly name: string | null
  readonly adminId: string | null
}

/** Where an answer has its parts: names of fields, with dots where one stands inside another. */
export interface Envelope {
  readonly items: string
  /** The source's own count of all items. */
  readonly total: string
  /** The page number and page size that the service says it served, where it does. */
  readonly page?: string
  readonly size?: string
  /** Column headers, where items are rows of cells. */
  readonly title?: string
}

/** How the service is asked for a list, and how it answers. */
export interface Wire {
  readonly method: 'GET' | 'POST'
  /** `{channel}` stands for the channel id; the last part names the endpoint in messages, logs and metrics. */
  readonly path: string
  /** `unknown`: the spec does not show it (LIVEHOUSE_LIST_PARAMS). */
  readonly place: 'body' | 'unknown'
  /** Parameters that are always the same: each is given, as the service's defaults differ. */
  readonly constants?: Readonly<Record<string, string | number>>
  /** Those of them with which the list comes in its other order, where there is one. */
  readonly reversed?: Readonly<Record<string, string>>
  /** Parameters that a part of the partition fills, beside the channel. */
  readonly parts?: Readonly<Record<string, PartitionPart>>
  /** The parameters of a window's two ends; none where the service does not filter by time. */
  readonly window?: { readonly from: string; readonly to: string }
  /** The parameters of the page number, from 1, and of the page size. */
  readonly paging: { readonly page: string; readonly size: string }
  /** The page size where none is asked for (API 8). */
  readonly defaultSize: number
  /** None where the answer is a bare array. */
  readonly envelope?: Envelope | undefined
}

/**
 * A stream is a value: what to ask, and how to read a row. One file each in `src/streams`. From its columns come the
 * row's type, the load statement, what the migrated table must be and the data dictionary; from its wire the requests
 * and how answers are read.
 */
export interface Stream extends LoadTable {
  readonly name: string
  /** What the status page calls it. */
  readonly label: Words
  /** Of the spec, such as `4.7`. */
  readonly section: string
  /** What one partition is: the account, a channel, each gift type of a channel, or each questionnaire of a channel. */
  readonly partitionedBy: 'account' | 'channel' | 'channel/type' | 'channel/question'
  /** The types of `channel/type`. */
  readonly types?: readonly string[]
  /** Whether its rows are the questions of `channel/question`: it is read before streams that are partitioned so. */
  readonly listsQuestions?: boolean
  readonly wire: Wire
  /** The largest page that the spec allows. */
  readonly pageSize: number
  /** Whether the answers tell the source's own total; bare arrays do not. */
  readonly isCounted: boolean
  /** Columns of which at least one says whether a row lies in the window that was asked for; none for snapshots. */
  readonly timeColumns: readonly string[]
  /** Whether the service filters by time; without a filter a slice is a walk over the whole list. */
  readonly isTimeFiltered: boolean
  /** Whether the service allows only some calls a day: read page by page, over days if need be, and only when named. */
  readonly isBudgeted?: boolean
  /** The time from which a row was there; without it, the latest of its times. */
  readonly bornColumn?: string
  /** How long before the covered end rows still change, and are read again; 0 for snapshots. */
  readonly lookbackDays: number
  /** Turns an item into fields by name; the default takes an object as it is. `title`: the headers over it, if any. */
  readonly readItem?: (item: unknown, title: readonly unknown[] | undefined) => ItemFields | Rejection
  /** What else makes an item unacceptable in this partition. */
  readonly checkItem?: (fields: Readonly<Record<string, unknown>>, partition: Partition) => Rejection | undefined
  /** Fields that the spec knows and that have no column here; they do not go to `extra`. */
  readonly otherFields: readonly string[]
  readonly channelFacts?: (item: unknown) => ChannelFacts | undefined
  /** Only where the source gives rows no id: a slice is then read whole, proven, and written in one transaction. */
  readonly identity?: RowIdentity
  readonly children?: ChildTable
}

/** What a declaration may leave out, with its defaults. */
const usual = { marksRemoved: false, timeColumns: [], lookbackDays: 0, otherFields: [] } as const

type Optional = keyof typeof usual | 'table'

/** A declaration: its key and freshness column must be columns of its own, and its table is named as the stream is. */
type StreamDeclaration<C extends Columns> = Omit<
  Stream,
  'columns' | 'key' | 'freshnessColumn' | 'isCounted' | 'isTimeFiltered' | Optional
> &
  Partial<Pick<Stream, Optional>> & {
    readonly columns: C
    readonly key: readonly (keyof C & string)[]
    readonly freshnessColumn?: keyof C & string
  }

/** Checks a declaration against its own columns and keeps their precise types. */
export function defineStream<const C extends Columns>(
  declaration: StreamDeclaration<C>,
): Stream & { readonly columns: C } {
  const { envelope, window } = declaration.wire
  const derived = { isCounted: envelope !== undefined, isTimeFiltered: window !== undefined }
  return Object.freeze({ table: declaration.name, ...usual, ...declaration, ...derived })
}

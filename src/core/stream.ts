import type { Columns, PartitionPart, Row, Words } from './column.ts'
import type { Partition } from './slice.ts'

/** Why an item cannot become a row. The item goes to quarantine and counts in the proof. */
export interface Rejection {
  readonly kind: 'rejected'
  /** One sentence, with the value that shows the problem. */
  readonly reason: string
  /** The field with the problem, such as `user_id`; empty for the item itself. */
  readonly path: string
}

/** An item as fields by name. */
export interface ItemFields {
  readonly kind: 'fields'
  readonly fields: Readonly<Record<string, unknown>>
}

/** Which columns identify a row that has no id at the source. */
export interface RowIdentity {
  /** The key column that holds the computed identity, and the column that numbers rows with equal values in `of`. */
  readonly keyColumn: string
  readonly occurrenceColumn: string
  /** Columns that never change. If one of them cannot be read, the item goes to quarantine. */
  readonly of: readonly string[]
  /** The one of these that assigns a row to a window. It is compared by the minute, as seconds may be missing. */
  readonly timeColumn: string
}

/**
 * For two streams that write one table, each with its own version of a row. The higher version takes a row over
 * entirely; the lower one inserts rows, and updates only rows of its own version.
 */
export interface TableVersions {
  /** The column that holds the version of a row. */
  readonly column: string
  readonly own: number
  readonly other: { readonly stream: string; readonly version: number }
  /** Columns that are equal (times to the minute) if two rows of one key are the same record. NULL equals anything. */
  readonly sameIn: readonly string[]
}

/** A table that rows are loaded into: that of a stream, or of its children. */
export interface LoadTable {
  /** Its name in schema `livehouse`. */
  readonly table: string
  /** What a row of the table stands for, for analysts. */
  readonly words: Words
  /** In the order of the table, without `removed_at`, `extra`, `run_id`, `inserted_at` and `changed_at`. */
  readonly columns: Columns
  /** The table's primary key. */
  readonly key: readonly string[]
  /** Whether `removed_at` is set on rows that proven readings no longer find. */
  readonly marksRemoved: boolean
  /** The column that tells which of several rows with one key is the latest (the source's list has duplicates). */
  readonly freshnessColumn?: string
  /** Only if another stream writes the same table. */
  readonly versions?: TableVersions
}

/** Rows of a second table that belong to a row and are replaced with it. */
export interface ChildTable extends LoadTable {
  /** The column that numbers the children of one row from 1; the rest of the key is the parent's. */
  readonly numberColumn: string
  readonly rowsOf: (parent: Row) => readonly Row[]
}

/** What an item says about its channel (API 2.5: every visitor repeats id, uin and name of the channel). */
export interface ChannelFacts {
  readonly name: string | null
  readonly adminId: string | null
}

/** The fields of an answer that hold its parts; dots separate the names of nested fields. */
export interface Envelope {
  readonly items: string
  /** The source's own count of all items. */
  readonly total: string
  /** The page number and page size that the answer claims to hold. */
  readonly page?: string
  readonly size?: string
  /** Column headers, if items are arrays of cells. */
  readonly title?: string
}

/** How a list is requested from the service, and the form of the answer. */
export interface Wire {
  readonly method: 'GET' | 'POST'
  /** `{channel}` stands for the channel id. The last segment names the endpoint in messages, logs and metrics. */
  readonly path: string
  /** `unknown`: the spec does not show it (LIVEHOUSE_LIST_PARAMS). */
  readonly place: 'body' | 'unknown'
  /** Parameters with a fixed value. They are always sent, because the service's defaults differ. */
  readonly constants?: Readonly<Record<string, string | number>>
  /** The values of `constants` that reverse the order of the list, if the service can reverse it. */
  readonly reversed?: Readonly<Record<string, string>>
  /** Parameters filled from parts of the partition other than the channel. */
  readonly parts?: Readonly<Record<string, PartitionPart>>
  /** The parameters of a window's two ends; missing if the service does not filter by time. */
  readonly window?: { readonly from: string; readonly to: string }
  /** The parameters of the page number, from 1, and of the page size. */
  readonly paging: { readonly page: string; readonly size: string }
  /** The page size of a request without a size (API 8). */
  readonly defaultSize: number
  /** Missing if the answer is a bare array. */
  readonly envelope?: Envelope | undefined
}

/**
 * A stream declares what to request and how to read a row; each has a file in `src/streams`. The row's type, the load
 * statement, the shape of the migrated table and the data dictionary follow from its columns, and the requests and the
 * parsing of answers from its wire.
 */
export interface Stream extends LoadTable {
  readonly name: string
  /** What the status page calls it. */
  readonly label: Words
  /** The section of the spec, such as `4.7`. */
  readonly section: string
  /** What one partition is: the account, a channel, each gift type of a channel, or each questionnaire of a channel. */
  readonly partitionedBy: 'account' | 'channel' | 'channel/type' | 'channel/question'
  /** The gift types, if it is partitioned by `channel/type`. */
  readonly types?: readonly string[]
  /** Whether its rows are the questionnaires of `channel/question`; it is read before streams partitioned by them. */
  readonly listsQuestions?: boolean
  readonly wire: Wire
  /** The largest page that the spec allows. */
  readonly pageSize: number
  /** Whether answers contain the source's own total; bare arrays do not. */
  readonly isCounted: boolean
  /** Columns of which at least one shows whether a row lies in the requested window; none for snapshots. */
  readonly timeColumns: readonly string[]
  /** Whether the service filters by time. Without a filter, a slice is the whole list. */
  readonly isTimeFiltered: boolean
  /** Whether the service limits its calls per day. Such a stream is read only when named, page by page, over days. */
  readonly isBudgeted?: boolean
  /** The column with the time at which a row came into being; without one, the latest of its times is used. */
  readonly bornColumn?: string
  /** For how many days before the covered end rows may still change, and are read again; 0 for snapshots. */
  readonly lookbackDays: number
  /** Turns an item into fields by name; by default an object is taken as it is. `title` has the headers, if any. */
  readonly readItem?: (item: unknown, title: readonly unknown[] | undefined) => ItemFields | Rejection
  /** Rejects items that do not belong to this partition. */
  readonly checkItem?: (fields: Readonly<Record<string, unknown>>, partition: Partition) => Rejection | undefined
  /** Fields that the spec names and that have no column here. They do not go to `extra`. */
  readonly otherFields: readonly string[]
  readonly channelFacts?: (item: unknown) => ChannelFacts | undefined
  /** Only if rows have no id at the source. A slice is then read whole, proven, and written in one transaction. */
  readonly identity?: RowIdentity
  readonly children?: ChildTable
}

/** Properties that a declaration may leave out, with their defaults. */
const defaults = { marksRemoved: false, timeColumns: [], lookbackDays: 0, otherFields: [] } as const

type Optional = keyof typeof defaults | 'table'

/** A declaration. Its key and freshness column must be its own columns; by default its table has the stream's name. */
type StreamDeclaration<C extends Columns> = Omit<
  Stream,
  'columns' | 'key' | 'freshnessColumn' | 'isCounted' | 'isTimeFiltered' | Optional
> &
  Partial<Pick<Stream, Optional>> & {
    readonly columns: C
    readonly key: readonly (keyof C & string)[]
    readonly freshnessColumn?: keyof C & string
  }

/** Checks the types of a declaration against its own columns, and fills in the defaults. */
export function defineStream<const C extends Columns>(
  declaration: StreamDeclaration<C>,
): Stream & { readonly columns: C } {
  const { envelope, window } = declaration.wire
  const derived = { isCounted: envelope !== undefined, isTimeFiltered: window !== undefined }
  return Object.freeze({ table: declaration.name, ...defaults, ...declaration, ...derived })
}

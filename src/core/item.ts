import type { Row } from './column.ts'
import type { Page } from './page.ts'
import type { Partition } from './slice.ts'
import type { Rejection, Stream } from './stream.ts'

/** An item that became a row. */
export interface ReadRow {
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

/** What every item of a slice shares. */
export interface ItemContext {
  readonly partition: Partition
  /** The service's day, `YYYY-MM-DD`. */
  readonly serviceDay: string
}

/** Reads one item. Pure: the same item gives the same answer. `page` is the answer that it came in. */
export type ItemReader = (item: unknown, page: Page) => ReadRow | RejectedItem

/** Compiles a stream's declaration into the function that reads its items (`transform/field.ts`). */
export type OpenItemReader = (stream: Stream, context: ItemContext) => ItemReader

/** Whether a value of JSON is an object, and no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

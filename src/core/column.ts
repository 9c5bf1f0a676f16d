/** The languages of pages, alerts and database comments, by their names in settings. */
export const languages = { en: 'en', 'zh-CN': 'zh' } as const

export type Language = (typeof languages)[keyof typeof languages]

/** The same text in both languages. */
export type Words = Readonly<Record<Language, string>>

/** The Postgres types of the warehouse, with what a parser returns for each: text that Postgres reads exactly. */
export interface ColumnTypes {
  readonly text: string
  /** Decimal digits, exact beyond 2^53. */
  readonly bigint: string
  readonly integer: number
  readonly smallint: number
  readonly boolean: boolean
  /** Decimal text, never a float. */
  readonly numeric: string
  readonly 'numeric(14,2)': string
  /** `YYYY-MM-DD HH:MM:SS` on the service's wall clock, or with an offset of its own. */
  readonly timestamptz: string
  readonly date: string
  readonly inet: string
  /** JSON text. */
  readonly jsonb: string
}

export type ColumnType = keyof ColumnTypes

/**
 * Reads one field. Returns its value, null if it has none (missing, null, empty text, zero date), or undefined if the
 * value cannot be read; `extra` then keeps it raw. Pure.
 */
export type FieldParser<T> = (raw: unknown) => T | null | undefined

/** The parts of a partition's name that a column can take its value from. */
export type PartitionPart = 'channel' | 'type' | 'question'

type ColumnSource<T> =
  /**
   * A field of the item. `isRequired`: without a readable value the item goes to quarantine. `isOptional`: the service
   * may leave the field out, so its absence from every item does not mean that the interface has changed.
   */
  | {
      readonly kind: 'field'
      readonly field: string
      readonly parse: FieldParser<T>
      readonly isRequired: boolean
      readonly isOptional?: boolean
    }
  | { readonly kind: 'partition'; readonly part: PartitionPart }
  /** The service's day on which the slice was read. */
  | { readonly kind: 'serviceDay' }
  | { readonly kind: 'constant'; readonly value: T }
  /** Computed by the pipeline from all rows of a slice (the identity of rows without an id). */
  | { readonly kind: 'computed' }

export interface Column<Type extends ColumnType = ColumnType> {
  readonly type: Type
  readonly source: ColumnSource<ColumnTypes[Type]>
  /** What the column holds and its unit, for analysts; used for the column's comment and the data dictionary. */
  readonly words: Words
}

/** In the order of the table. */
export type Columns = Readonly<Record<string, Column>>

export type Cell = string | number | boolean | null

/** A row as the pipeline carries it, by column name; `extra` is JSON text. */
export type Row = Readonly<Record<string, Cell>>

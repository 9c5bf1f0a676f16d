/** The languages of what people read (pages, alerts, comments of the database), by their names in settings. */
export const languages = { en: 'en', 'zh-CN': 'zh' } as const

export type Language = (typeof languages)[keyof typeof languages]

/** The same text in both languages. */
export type Words = Readonly<Record<Language, string>>

/** Postgres types of the warehouse, and what a parser returns for each: text in a form that Postgres reads exactly. */
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
 * Reads one field: a value, null for none (missing, null, empty text, zero date), undefined for what it cannot read,
 * which is then kept raw in `extra`. Pure.
 */
export type FieldParser<T> = (raw: unknown) => T | null | undefined

/** The parts of a partition's name that a column can take its value from. */
export type PartitionPart = 'channel' | 'type' | 'question'

type ColumnSource<T> =
  /**
   * A field of the item. `isRequired`: without a readable value the item goes to quarantine. `isOptional`: the service
   * may leave it out, so the interface has not changed where no item has it.
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
  /** Filled by the pipeline from the rows of a whole slice (identity of rows without an id). */
  | { readonly kind: 'computed' }

export interface Column<Type extends ColumnType = ColumnType> {
  readonly type: Type
  readonly source: ColumnSource<ColumnTypes[Type]>
  /** What it is and its unit, for analysts: the comment of the column, and the dictionary. */
  readonly words: Words
}

/** In the order of the table. */
export type Columns = Readonly<Record<string, Column>>

export type Cell = string | number | boolean | null

/** A row as the pipeline carries it, by column name; `extra` is JSON text. */
export type Row = Readonly<Record<string, Cell>>

import type { ColumnType, Words } from '../core/column.ts'

/** Kinds of personal data that are masked by default for readers without the role `livehouse_pii`. */
const maskedByDefault = ['phone', 'ip', 'open_id', 'nickname', 'address', 'answers'] as const
/** Kinds that stay clear unless `LIVEHOUSE_MASK` names them, such as the company's own ids. */
export const maskedOnRequest = ['assign_id', 'outer_id', 'access_source', 'username'] as const
/** Every kind that `LIVEHOUSE_MASK` accepts. */
export const maskableKinds = [...maskedByDefault, ...maskedOnRequest] as const

export type PersonalData = (typeof maskableKinds)[number]

/** Column types of views, as Postgres writes them. */
export type BiType =
  | Exclude<ColumnType, 'timestamptz'>
  | 'double precision'
  | 'timestamp with time zone'
  | 'timestamp without time zone'

/** A column of a view: its type, its expression and its description. */
export interface BiColumn {
  readonly type: BiType
  /** An expression over the relations of `from`; `{zone}` stands for the service's time zone. */
  readonly sql: string
  /** Description: meaning, unit, and the source field with its section of the spec. */
  readonly words: Words
  readonly personal?: PersonalData
}

/** Columns by name, in the order of the view. */
export type BiColumns = Readonly<Record<string, BiColumn>>

/** A view of `livehouse_bi`, declared once: its SQL, comments in both languages and docs are generated from it. */
export interface BiView {
  readonly name: string
  readonly grain: Words
  /** Further notes for readers; may be empty. */
  readonly remarks: Words
  readonly key: readonly string[]
  readonly columns: BiColumns
  /** Everything after the select list, beginning with `from …`. */
  readonly from: string
  /**
   * Makes the view a `security_barrier`. Set if it filters out rows of its tables, or matches rows by values that it
   * does not show.
   */
  readonly hidesRows?: true
}

/** @param source section and field of the spec, such as `2.5 phone` */
function columnOf(type: BiType): (sql: string, en: string, zh: string, source?: string) => BiColumn {
  return (sql, en, zh, source) => ({ type, sql, words: withSource({ en, zh }, source) })
}

/** Appends the section and field of the spec, if given, to both texts. */
export function withSource({ en, zh }: Words, source: string | undefined): Words {
  return source === undefined ? { en, zh } : { en: `${en} (API ${source})`, zh: `${zh}（API ${source}）` }
}

export const text = columnOf('text')
export const bool = columnOf('boolean')
export const smallint = columnOf('smallint')
export const integer = columnOf('integer')
export const bigint = columnOf('bigint')
export const numeric = columnOf('numeric')
export const double = columnOf('double precision')
export const date = columnOf('date')
export const instant = columnOf('timestamp with time zone')
export const localTime = columnOf('timestamp without time zone')

import type { ColumnType, Words } from '../core/column.ts'

/** Kinds of data that are personal: readers without the role `livehouse_pii` see them masked. */
const masked = ['phone', 'ip', 'open_id', 'nickname', 'address', 'answers'] as const
/** Those that are masked only where `LIVEHOUSE_MASK` names them: the company's own ids stay clear. */
export const maskedByName = ['assign_id', 'outer_id', 'access_source', 'username'] as const
/** Everything that `LIVEHOUSE_MASK` may name. */
export const maskable = [...masked, ...maskedByName] as const

export type PersonalData = (typeof maskable)[number]

/** Column types, as Postgres writes them. */
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
  /** What it is, its unit, and the source field with the section of the spec. */
  readonly words: Words
  readonly personal?: PersonalData
}

/** Columns by name, in the order of the view. */
export type BiColumns = Readonly<Record<string, BiColumn>>

/** A view of `livehouse_bi`, declared once: its SQL, comments in both languages and docs are generated from it. */
export interface BiView {
  readonly name: string
  readonly grain: Words
  /** What else a reader has to know; empty for nothing. */
  readonly remarks: Words
  readonly key: readonly string[]
  readonly columns: BiColumns
  /** Everything after the select list, beginning with `from …`. */
  readonly from: string
  /**
   * Set where it leaves rows of its tables out, or matches rows by values that it does not show: then it is a
   * `security_barrier`.
   */
  readonly hidesRows?: true
}

type ColumnOf = (sql: string, en: string, zh: string, source?: string) => BiColumn

/** @param source section and field of the spec, such as `2.5 phone` */
function columnOf(type: BiType): ColumnOf {
  return (sql, en, zh, source) => ({ type, sql, words: withSource({ en, zh }, source) })
}

/** Both texts, each followed by the place in the specification. */
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

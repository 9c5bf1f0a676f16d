import type { Words } from '../core/column.ts'

/** A column of a table: its type as Postgres writes it, and what it is. */
export interface BaseColumn {
  readonly type: string
  readonly words: Words
}

/** A table as the migrations leave it. The English words are those of its migrations. */
export interface BaseTable {
  /** A table when not given. */
  readonly kind?: 'table' | 'view'
  readonly words: Words
  readonly key: readonly string[]
  /** In the order of the table. */
  readonly columns: Readonly<Record<string, BaseColumn>>
}

type ColumnOf = (en: string, zh: string) => BaseColumn

function columnOf(type: string): ColumnOf {
  return (en, zh) => ({ type, words: { en, zh } })
}

export const text = columnOf('text')
export const bigint = columnOf('bigint')
export const integer = columnOf('integer')
export const boolean = columnOf('boolean')
export const date = columnOf('date')
export const instant = columnOf('timestamp with time zone')
export const wallTime = columnOf('timestamp without time zone')
export const json = columnOf('jsonb')
export const range = columnOf('tsrange')
export const ranges = columnOf('tsmultirange')
export const days = columnOf('datemultirange')
export const texts = columnOf('text[]')
export const bytes = columnOf('bytea')
export const name255 = columnOf('character varying(255)')

/** Which part of a stream a row is about. */
export const place = {
  stream: text('Name of the stream', '数据流名称'),
  partition: text('Part of the stream, as in slices', '数据流的部分，同 slices'),
}

/** Of tables whose rows can go at the source. */
export const removedAt = {
  removed_at: instant(
    'When two proven reads in a row no longer found the row at the source; NULL while it is there',
    '连续两次经证明的读取在源端未再找到该行的时间；仍在时为 NULL',
  ),
}

/** At the end of every table of records. */
export const changes = {
  extra: json(
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
    '接口文档未说明的字段，以及无法解析的原始值，按源字段名；没有则为 NULL',
  ),
  run_id: bigint(
    'The run that last changed the row (livehouse_ops.runs)',
    '最近一次改动该行的运行（livehouse_ops.runs）',
  ),
  inserted_at: instant('When the row was first written', '该行首次写入的时间'),
  changed_at: instant('When the content of the row last changed', '该行内容最近一次变动的时间'),
}

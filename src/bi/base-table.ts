import type { Words } from './view.ts'

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

export function column(type: string, en: string, zh: string): BaseColumn {
  return { type, words: { en, zh } }
}

/** Of tables whose rows can go at the source. */
export const removedAt = {
  removed_at: column(
    'timestamp with time zone',
    'When two proven reads in a row no longer found the row at the source; NULL while it is there',
    '连续两次经证明的读取在源端未再找到该行的时间；仍在时为 NULL',
  ),
}

/** At the end of every table of records. */
export const changes = {
  extra: column(
    'jsonb',
    'Fields that the interface description does not know, and raw values that could not be read, by source name; NULL when there are none',
    '接口文档未说明的字段，以及无法解析的原始值，按源字段名；没有则为 NULL',
  ),
  run_id: column(
    'bigint',
    'The run that last changed the row (livehouse_ops.runs)',
    '最近一次改动该行的运行（livehouse_ops.runs）',
  ),
  inserted_at: column('timestamp with time zone', 'When the row was first written', '该行首次写入的时间'),
  changed_at: column(
    'timestamp with time zone',
    'When the content of the row last changed',
    '该行内容最近一次变动的时间',
  ),
}

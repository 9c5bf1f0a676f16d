import type { Column, ColumnType, ColumnTypes, FieldParser, PartitionPart } from '../core/column.ts'
import * as values from '../transform/read-item.ts'

/** Declares a column that is read from a field of the item, with its description in English and Chinese. */
type FieldColumn<Type extends ColumnType> = (field: string, en: string, zh: string) => Column<Type>

function fieldColumn<Type extends ColumnType>(type: Type, parse: FieldParser<ColumnTypes[Type]>): FieldColumn<Type> {
  return (field, en, zh) => ({ type, words: { en, zh }, source: { kind: 'field', field, parse, isRequired: false } })
}

/** Declares columns that are read from a field of the item, by the kind of value. */
export const field = {
  text: fieldColumn('text', values.text),
  /** Text that is part of a key or an index. */
  id: fieldColumn('text', values.identifier),
  bigint: fieldColumn('bigint', values.bigint),
  integer: fieldColumn('integer', values.integer),
  smallint: fieldColumn('smallint', values.smallint),
  boolean: fieldColumn('boolean', values.flag),
  decimal: fieldColumn('numeric', values.decimal),
  money: fieldColumn('numeric(14,2)', values.money),
  time: fieldColumn('timestamptz', values.pointInTime),
  date: fieldColumn('date', values.calendarDate),
  ip: fieldColumn('inet', values.ipAddress),
  /** `HH:MM:SS` text. */
  duration: fieldColumn('integer', values.durationText),
  /** A count of seconds. */
  seconds: fieldColumn('integer', values.durationSeconds),
}

/** The same column as a required one: an item without a readable value is rejected. */
export function required<Type extends ColumnType>(column: Column<Type>): Column<Type> {
  return column.source.kind === 'field' ? { ...column, source: { ...column.source, isRequired: true } } : column
}

/** The same column as an optional one: if no item has its field, that is not taken for a changed interface. */
export function optional<Type extends ColumnType>(column: Column<Type>): Column<Type> {
  return column.source.kind === 'field' ? { ...column, source: { ...column.source, isOptional: true } } : column
}

/** A column filled from the partition, because items lack the value or could contradict it. */
export function partitionColumn(part: PartitionPart, en: string, zh: string): Column<'text'> {
  return { type: 'text', words: { en, zh }, source: { kind: 'partition', part } }
}

/** A column computed from all rows of a slice. */
export function computedColumn<Type extends ColumnType>(type: Type, en: string, zh: string): Column<Type> {
  return { type, words: { en, zh }, source: { kind: 'computed' } }
}

export const channelColumn = partitionColumn('channel', 'Channel id', '频道 ID')
export const questionColumn = partitionColumn('question', 'Questionnaire hash id', '问卷 ID')
export const phoneColumn = field.text('phone', 'Mobile phone number as the service has it', '手机号，服务端原样')

/** The columns that describe a viewer, other than the viewer's id. */
export const viewerColumns = {
  assign_id: field.text(
    'assign_id',
    'Third-party id that the company assigned to the viewer',
    '公司为观众指定的第三方 ID',
  ),
  outer_id: field.text('outer_id', 'External account id of the viewer', '观众的外部账号 ID'),
  nickname: field.text(
    'nick',
    'Nickname; not unique, made up from the region for anonymous viewers',
    '昵称；不唯一，匿名观众由地区生成',
  ),
  address: field.text('addr', 'Address, province and city without a separator', '地址，省与市之间无分隔'),
  phone: phoneColumn,
}

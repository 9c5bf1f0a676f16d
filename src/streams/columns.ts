import type { Column, ColumnType, ColumnTypes, FieldParser, PartitionPart } from '../core/column.ts'
import * as values from '../transform/read-item.ts'

/** How a declaration names a column that is a field of the item: source field, then what it is. */
type FieldColumn<Type extends ColumnType> = (field: string, en: string, zh: string) => Column<Type>

function fieldColumn<Type extends ColumnType>(type: Type, parse: FieldParser<ColumnTypes[Type]>): FieldColumn<Type> {
  return (field, en, zh) => ({ type, words: { en, zh }, source: { kind: 'field', field, parse, isRequired: false } })
}

/** The columns that are a field of the item, by what it is. */
export const field = {
  text: fieldColumn('text', values.text),
  /** Text of a key, or of an index. */
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

/** The same column, without which an item is not a row. */
export function required<Type extends ColumnType>(column: Column<Type>): Column<Type> {
  return column.source.kind === 'field' ? { ...column, source: { ...column.source, isRequired: true } } : column
}

/** The same column, whose field the service may leave out of all items: without it no changed interface is told. */
export function optional<Type extends ColumnType>(column: Column<Type>): Column<Type> {
  return column.source.kind === 'field' ? { ...column, source: { ...column.source, isOptional: true } } : column
}

/** Taken from the partition's name: items do not have it, or need not be trusted with it. */
export function partitionColumn(part: PartitionPart, en: string, zh: string): Column<'text'> {
  return { type: 'text', words: { en, zh }, source: { kind: 'partition', part } }
}

/** Filled from the rows of a whole slice. */
export function computedColumn<Type extends ColumnType>(type: Type, en: string, zh: string): Column<Type> {
  return { type, words: { en, zh }, source: { kind: 'computed' } }
}

export const channelColumn = partitionColumn('channel', 'Channel id', '频道 ID')
export const questionColumn = partitionColumn('question', 'Questionnaire hash id', '问卷 ID')
export const phoneColumn = field.text('phone', 'Mobile phone number as the service has it', '手机号，服务端原样')

/** What a list says of a viewer, beside the viewer's id. */
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

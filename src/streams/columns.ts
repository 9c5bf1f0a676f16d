import type { Column, ColumnType, ColumnTypes, FieldParser, PartitionPart } from '../core/column.ts'
import * as values from '../transform/values.ts'

/** How a declaration names a column that is a field of the item: source field, then what it is. */
type FieldColumn<Type extends ColumnType> = (field: string, en: string, zh: string) => Column<Type>

function fieldColumn<Type extends ColumnType>(type: Type, parse: FieldParser<ColumnTypes[Type]>): FieldColumn<Type> {
  return (field, en, zh) => ({ type, words: { en, zh }, source: { kind: 'field', field, parse, isRequired: false } })
}

export const textField = fieldColumn('text', values.text)
/** Text of a key. */
export const idField = fieldColumn('text', values.identifier)
export const bigintField = fieldColumn('bigint', values.bigint)
export const integerField = fieldColumn('integer', values.integer)
export const smallintField = fieldColumn('smallint', values.smallint)
export const booleanField = fieldColumn('boolean', values.flag)
export const decimalField = fieldColumn('numeric', values.decimal)
export const moneyField = fieldColumn('numeric(14,2)', values.money)
export const timeField = fieldColumn('timestamptz', values.pointInTime)
export const dateField = fieldColumn('date', values.calendarDate)
export const ipField = fieldColumn('inet', values.ipAddress)
/** `HH:MM:SS` text. */
export const durationField = fieldColumn('integer', values.durationText)
/** A count of seconds. */
export const secondsField = fieldColumn('integer', values.durationSeconds)

/** The same column, without which an item is not a row. */
export function required<Type extends ColumnType>(column: Column<Type>): Column<Type> {
  return column.source.kind === 'field' ? { ...column, source: { ...column.source, isRequired: true } } : column
}

/** The same column, whose field the service may leave out. */
export function optional<Type extends ColumnType>(column: Column<Type>): Column<Type> {
  return column.source.kind === 'field' ? { ...column, source: { ...column.source, isOptional: true } } : column
}

/** A part of the partition's name: the item itself does not say it, or need not be believed. */
export function partitionColumn(part: PartitionPart, en: string, zh: string): Column<'text'> {
  return { type: 'text', words: { en, zh }, source: { kind: 'partition', part } }
}

/** The service's day on which the slice was read. */
export function serviceDayColumn(en: string, zh: string): Column<'date'> {
  return { type: 'date', words: { en, zh }, source: { kind: 'serviceDay' } }
}

export function constantColumn<Type extends ColumnType>(
  type: Type,
  value: ColumnTypes[Type],
  en: string,
  zh: string,
): Column<Type> {
  return { type, words: { en, zh }, source: { kind: 'constant', value } }
}

/** Filled from the rows of a whole slice. */
export function computedColumn<Type extends ColumnType>(type: Type, en: string, zh: string): Column<Type> {
  return { type, words: { en, zh }, source: { kind: 'computed' } }
}

export const channelColumn = partitionColumn('channel', 'Channel id', '频道 ID')
export const questionColumn = partitionColumn('question', 'Questionnaire hash id', '问卷 ID')
export const phoneColumn = textField('phone', 'Mobile phone number as the service has it', '手机号，服务端原样')

/** What a list says of a viewer, beside the viewer's id. */
export const viewerColumns = {
  assign_id: textField(
    'assign_id',
    'Third-party id that the company assigned to the viewer',
    '公司为观众指定的第三方 ID',
  ),
  outer_id: textField('outer_id', 'External account id of the viewer', '观众的外部账号 ID'),
  nickname: textField(
    'nick',
    'Nickname; not unique, made up from the region for anonymous viewers',
    '昵称；不唯一，匿名观众由地区生成',
  ),
  address: textField('addr', 'Address, province and city without a separator', '地址，省与市之间无分隔'),
  phone: phoneColumn,
}

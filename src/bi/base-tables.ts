import type { Language, Words } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import { writtenTables } from '../streams/registry.ts'
import { quoteText } from './quote.ts'

/** A table of schema `livehouse` as the migrations leave it. The English words equal their comments. */
export interface BaseTable {
  readonly words: Words
  readonly key: readonly string[]
  /** In an order that reads well; in the database, columns of later migrations come last. */
  readonly columns: Readonly<Record<string, ReturnType<typeof column>>>
}

const column = (type: string, en: string, zh: string) => ({ type, words: { en, zh } })
const instant = column.bind(undefined, 'timestamp with time zone')
const text = column.bind(undefined, 'text')

/** The column of tables whose rows can disappear from the source. */
const removedAt = {
  removed_at: instant(
    'When two proven reads in a row no longer found the row at the source; NULL while it is there',
    '连续两次经证明的读取在源端未再找到该行的时间；仍在时为 NULL',
  ),
}

const auditColumns = {
  extra: column(
    'jsonb',
    'Fields that the interface description does not know, and raw values that could not be read, by source ' +
      'name; NULL when there are none',
    '接口文档未说明的字段，以及无法解析的原始值，按源字段名；没有则为 NULL',
  ),
  run_id: column(
    'bigint',
    'The run that last changed the row (livehouse_ops.runs)',
    '最近一次改动该行的运行（livehouse_ops.runs）',
  ),
  inserted_at: instant('When the row was first written', '该行首次写入的时间'),
  changed_at: instant('When the content of the row last changed', '该行内容最近一次变动的时间'),
}

/** Declared here because channels are no stream: the service has no list of them. */
const channels: BaseTable = {
  words: {
    en: 'Channels, one row each: every configured one, also before anything of it has landed',
    zh: '频道，每行一个：包括尚无任何数据写入的已配置频道',
  },
  key: ['channel_id'],
  columns: {
    channel_id: text('Channel id', '频道 ID'),
    name: text('Channel name, as the visitor list has it (API 2.5 name)', '频道名称，来自访客列表（API 2.5 name）'),
    admin_id: column('bigint', 'Administrator id (API 2.5 uin)', '管理员 ID（API 2.5 uin）'),
    label: text(
      'The label that the operator gave the channel (LIVEHOUSE_CHANNELS)',
      '运营者给频道的标签（LIVEHOUSE_CHANNELS）',
    ),
    channel_group: text(
      'The group that the operator put the channel in (LIVEHOUSE_CHANNELS)',
      '运营者给频道的分组（LIVEHOUSE_CHANNELS）',
    ),
    is_test: column(
      'boolean',
      'Whether the operator marked the channel as a test (LIVEHOUSE_CHANNELS)',
      '运营者是否标记为测试频道（LIVEHOUSE_CHANNELS）',
    ),
    state: text(
      'active: configured; retired: no longer configured; gone: configured, but the service no longer knows it',
      'active：已配置；retired：不再配置；gone：已配置，但服务端已不认识',
    ),
    read_until: column('date', 'Last day that is read of it (LIVEHOUSE_CHANNELS), if any', '读取的最后一天，如有'),
    ...auditColumns,
    extra: column(
      'jsonb',
      'Always NULL here: the service has no list of channels of its own',
      '此处恒为 NULL：服务端没有频道列表',
    ),
  },
}

/** The tables of schema `livehouse` by name, from which `livehouse dictionary` and their comments are made. */
export const baseTables: Readonly<Record<string, BaseTable>> = {
  channels,
  ...Object.fromEntries(writtenTables.map((each) => [each.table, tableOf(each)])),
}

export const tablesWords: Words = {
  en: 'The records of one live-streaming account, typed; written by livehouse',
  zh: '一个直播账号的记录，类型明确；由 livehouse 写入',
}

function tableOf({ words, key, columns, marksRemoved }: LoadTable): BaseTable {
  const fields = Object.entries(columns).map(([name, { type, words: ofColumn }]) => {
    return [name, { type: type === 'timestamptz' ? 'timestamp with time zone' : type, words: ofColumn }] as const
  })
  return { words, key, columns: { ...Object.fromEntries(fields), ...(marksRemoved ? removedAt : {}), ...auditColumns } }
}

/**
 * Comments on the schema and on each table and column. A table that is missing, or that belongs to another user, is
 * skipped, so that a comment never stops a run.
 */
export function commentOnTables(language: Language): readonly string[] {
  return [
    ifPossible([`comment on schema livehouse is ${quoteText(tablesWords[language])}`]),
    ...Object.entries(baseTables).map(([name, { words, columns }]) =>
      ifPossible([
        `comment on table livehouse.${name} is ${quoteText(words[language])}`,
        ...Object.entries(columns).map(
          ([column, described]) =>
            `comment on column livehouse.${name}.${column} is ${quoteText(described.words[language])}`,
        ),
      ]),
    ),
  ]
}

/** Wraps statements so that a missing table, column or privilege undoes all of them, without an error. */
export function ifPossible(statements: readonly string[]): string {
  return `do $words$ begin
  ${statements.join(';\n  ')};
exception when undefined_table or undefined_column or insufficient_privilege then null;
end $words$`
}

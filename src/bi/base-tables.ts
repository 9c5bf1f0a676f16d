import type { Words } from '../core/column.ts'
import type { LoadTable } from '../core/stream.ts'
import { writtenTables } from '../streams/registry.ts'
import { type BaseColumn, type BaseTable, changes, removedAt } from './base-table.ts'
import { analystTables } from './tables/analyst-tables.ts'
import { channelTables } from './tables/channel-tables.ts'
import { findingTables } from './tables/finding-tables.ts'
import { ledgerTables } from './tables/ledger-tables.ts'
import { partitionTables } from './tables/partition-tables.ts'
import { serviceTables } from './tables/service-tables.ts'
import { quoteText } from './quote.ts'
import type { Language } from './view-statements.ts'

/** Every table that the migrations make, by its qualified name: what `livehouse dictionary` and the comments in Chinese say. */
export const baseTables: Readonly<Record<string, BaseTable>> = {
  ...channelTables,
  ...Object.fromEntries(writtenTables.map((each) => [`livehouse.${each.table}`, tableOf(each)])),
  ...ledgerTables,
  ...findingTables,
  ...partitionTables,
  ...serviceTables,
  ...analystTables,
}

/** The schemas of the tables. */
export const baseSchemas: Readonly<Record<string, Words>> = {
  livehouse: {
    en: 'The records of one live-streaming account, typed; written by livehouse',
    zh: '一个直播账号的记录，类型明确；由 livehouse 写入',
  },
  livehouse_ops: {
    en: 'The operational state of livehouse: runs, coverage, quarantine; not for analysts',
    zh: 'livehouse 的运行状态：运行、覆盖、隔离区；不面向分析师',
  },
}

function tableOf({ words, key, columns, marksRemoved }: LoadTable): BaseTable {
  const declared = Object.entries(columns).map(([name, column]): [string, BaseColumn] => {
    return [
      name,
      { type: column.type === 'timestamptz' ? 'timestamp with time zone' : column.type, words: column.words },
    ]
  })
  return { words, key, columns: { ...Object.fromEntries(declared), ...(marksRemoved ? removedAt : {}), ...changes } }
}

/**
 * `COMMENT ON` the schemas of the tables, each table and column: what the migrations say in English, in either language. Words
 * stop nothing: a table that is not there, or belongs to another user, is left as it is.
 */
export function commentOnTables(language: Language): readonly string[] {
  return [
    ...Object.entries(baseSchemas).map(([name, words]) =>
      ifPossible([`comment on schema ${name} is ${quoteText(words[language])}`]),
    ),
    ...Object.entries(baseTables).map(([name, { kind = 'table', words, columns }]) =>
      ifPossible([
        `comment on ${kind} ${name} is ${quoteText(words[language])}`,
        ...Object.entries(columns).map(
          ([column, described]) => `comment on column ${name}.${column} is ${quoteText(described.words[language])}`,
        ),
      ]),
    ),
  ]
}

function ifPossible(statements: readonly string[]): string {
  return `do $words$ begin
  ${statements.join(';\n  ')};
exception when undefined_table or undefined_column or insufficient_privilege then null;
end $words$`
}

import { type BaseTable, baseTables, tablesWords } from '../bi/base-tables.ts'
import { biViews } from '../bi/registry.ts'
import type { BiView } from '../bi/view.ts'
import { SCHEMA, schemaWords } from '../bi/view-statements.ts'
import { readLanguage } from '../config/values.ts'
import { readSettings } from '../config.ts'
import { type Language, languages } from '../core/column.ts'
import { allStreams } from '../streams/registry.ts'
import { defineCommand } from './usage.ts'

export const dictionary = defineCommand(
  {
    about: `Prints the data dictionary as Markdown: every table and view for analysts with its columns, their types,
meanings and sources in the API specification. docs/data-dictionary.md is this output. Needs no database; a database
has the same texts as comments.`,
    flags: { lang: ['LANG', 'en or zh-CN (default: LIVEHOUSE_LANG, else en)'] },
    examples: `livehouse dictionary > data-dictionary.md
livehouse dictionary --lang zh-CN`,
  },
  ({ values: { lang } }, refuse) => {
    const [, language] = Object.entries(languages).find(([name]) => name === lang) ?? []
    if (language === undefined && lang !== undefined)
      refuse(`--lang is ${JSON.stringify(lang)}; it should be ${Object.keys(languages).join(' or ')}`)
    return language
  },
  async ({ environment, print }, given) => {
    print(dictionaryOf(readSettings(environment, (source) => given ?? readLanguage(source)) ?? 'en'))
    return 0
  },
)

const phrases = {
  en: {
    title: 'Data dictionary',
    about:
      'Every table and view for analysts, from the declarations in the code: `npx livehouse dictionary`. The same ' +
      'words are the comments in the database. **Bold** columns tell rows apart; 🔒 is personal data, masked for ' +
      '`livehouse_analyst`. The source is a section of the interface specification and the field there. The tables ' +
      'of `livehouse_ops`, the operational state, explain themselves by their comments in the database ' +
      '(`\\d+ livehouse_ops.slices` in psql).',
    columns: ['column', 'type', 'meaning', 'source'],
    stop: '.',
  },
  zh: {
    title: '数据字典',
    about:
      '面向分析师的全部表与视图，由代码中的声明生成：`npx livehouse dictionary --lang zh-CN`。数据库中的注释与此相同。**粗体**列区分各行；' +
      '🔒 为个人信息，对 `livehouse_analyst` 脱敏。来源为接口规范的章节与字段。运行状态 `livehouse_ops` 各表的说明见其数据库注释' +
      '（在 psql 中执行 `\\d+ livehouse_ops.slices`）。',
    columns: ['列', '类型', '含义', '来源'],
    stop: '。',
  },
} as const

function dictionaryOf(language: Language): string {
  const { title, about, stop } = phrases[language]
  const tables = Object.entries(baseTables).flatMap(([name, table]) => describeTable(name, table, language))
  const views = biViews.flatMap((view) => describeView(view, language))
  const head = [`# ${title}`, '', about, '', '## livehouse', '', `${tablesWords[language]}${stop}`, '']
  const ofViews = [`## ${SCHEMA}`, '', `${schemaWords[language]}${stop}`, '']
  return [...head, ...tables, ...ofViews, ...views].join('\n').trimEnd()
}

function describeTable(name: string, { words, key, columns }: BaseTable, language: Language): readonly string[] {
  const stream = allStreams.find(({ table }) => table === name)
  const rows = Object.entries(columns).map(([column, { type, words: ofColumn }]) => {
    const source = stream?.columns[column]?.source
    const field = stream !== undefined && source?.kind === 'field' ? `${stream.section} ${source.field}` : ''
    return [columnName(column, key), type, ofColumn[language], field]
  })
  return describeRelation(`livehouse.${name}`, words[language], rows, language)
}

/** The source, as `withSource` appends it to the words. */
const sourcePattern = / ?[(（]API ([^)）]+)[)）]/

function describeView({ name, grain, remarks, key, columns }: BiView, language: Language): readonly string[] {
  const meaning = [grain[language], remarks[language]]
    .filter((text) => text !== '')
    .join(language === 'en' ? '. ' : '。')
  const rows = Object.entries(columns).map(([column, { type, words, personal }]) => {
    const text = words[language].replace(sourcePattern, '')
    const source = sourcePattern.exec(words[language])?.[1] ?? ''
    return [columnName(column, key), type, personal === undefined ? text : `${text} 🔒`, source]
  })
  return describeRelation(`${SCHEMA}.${name}`, meaning, rows, language)
}

function columnName(column: string, key: readonly string[]): string {
  return key.includes(column) ? `**\`${column}\`**` : `\`${column}\``
}

function describeRelation(
  name: string,
  meaning: string,
  rows: readonly (readonly string[])[],
  language: Language,
): readonly string[] {
  const header = phrases[language].columns
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [`### ${name}`, '', meaning, '', ...[header, header.map(() => '---'), ...rows].map(line), '']
}

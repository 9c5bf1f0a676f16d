import type { BaseTable } from '../bi/base-table.ts'
import { baseSchemas, baseTables } from '../bi/base-tables.ts'
import { biViews } from '../bi/registry.ts'
import { type Relation, tableRelations, viewRelations } from '../bi/relations.ts'
import { type Language, SCHEMA, schemaWords } from '../bi/view-statements.ts'
import type { BiView, PersonalData } from '../bi/view.ts'
import { readSettings } from '../config.ts'
import { readCommentLanguage } from '../config/read-bi.ts'
import { languages } from '../core/language.ts'
import { allStreams } from '../streams/registry.ts'
import { defineCommand } from './usage.ts'

/** `livehouse dictionary`: what every table, view and column is. */
export const dictionary = defineCommand(
  {
    verb: 'dictionary',
    about: `The data dictionary: every table and view with its columns, their types, meanings and sources in the interface specification,
and how they join, as Markdown with Mermaid diagrams. docs/data-dictionary.md is its output. Asks no database; the database has
the same words as comments, in the language of LIVEHOUSE_LANG.`,
    flags: {
      lang: ['LANG', 'en or zh-CN (default: LIVEHOUSE_LANG, else en)'],
      json:
        'prints one JSON object instead, the operational tables in full: {"schemas": [{"name", "meaning", "relations": [{"name", ' +
        '"kind", "meaning", "columns": [{"name", "type", "meaning", "source", "is_key", "personal"}]}], "joins": [{"from", ' +
        '"columns", "to", "is_optional"}]}]}',
    },
    examples: `livehouse dictionary > data-dictionary.md
livehouse dictionary --lang zh-CN
livehouse dictionary --json | jq -r '.schemas[].relations[].columns[] | select(.personal) | .name'`,
  },
  ({ values }, refuse) => {
    const lang = languages.find((each) => each === values.lang)
    if (lang === undefined && values.lang !== undefined)
      refuse(`--lang is ${JSON.stringify(values.lang)}; it should be ${languages.join(' or ')}`)
    return { given: lang === 'zh-CN' ? 'zh' : lang, isJson: values.json } as const
  },
  async ({ environment, print }, { given, isJson }) => {
    const language = readSettings(environment, (source) => given ?? readCommentLanguage(source)) ?? 'en'
    const schemas = collectDictionary(language)
    print(isJson ? dictionaryJson(schemas) : dictionaryMarkdown(schemas, language).trimEnd())
    return 0
  },
)

function dictionaryJson(schemas: readonly DescribedSchema[]): string {
  return JSON.stringify({
    schemas: schemas.map(({ relations, joins, ...schema }) => ({
      ...schema,
      relations: relations.map(({ columns, ...relation }) => ({
        ...relation,
        columns: columns.map(({ isKey, personal, ...column }) => ({ ...column, is_key: isKey, personal })),
      })),
      joins: joins.map(({ isOptional, ...join }) => ({ ...join, is_optional: isOptional })),
    })),
  })
}

const OPERATIONS = 'livehouse_ops'

const phrases = {
  en: {
    title: 'Data dictionary',
    about:
      'Every table and view of the warehouse, from the declarations in the code: `npx livehouse dictionary`. The same words are the ' +
      'comments in the database. **Bold** columns tell rows apart; 🔒 is personal data, masked for `livehouse_analyst`. The source is a ' +
      'section of the interface specification and the field there.',
    columns: ['column', 'type', 'meaning', 'source'],
    brief: ['table', 'meaning', 'columns'],
  },
  zh: {
    title: '数据字典',
    about:
      '数据仓库的全部表与视图，由代码中的声明生成：`npx livehouse dictionary --lang zh-CN`。数据库中的注释与此相同。**粗体**列区分各行；🔒 为个人信息，' +
      '对 `livehouse_analyst` 脱敏。来源为接口规范的章节与字段。',
    columns: ['列', '类型', '含义', '来源'],
    brief: ['表', '含义', '列'],
  },
} as const

/** The dictionary as Markdown with Mermaid diagrams; the operational tables only by name. */
function dictionaryMarkdown(schemas: readonly DescribedSchema[], language: Language): string {
  const { title, about } = phrases[language]
  return [`# ${title}`, '', about, '', ...schemas.flatMap((schema) => describeSchema(schema, language))].join('\n')
}

function describeSchema(schema: DescribedSchema, language: Language): readonly string[] {
  const { name, meaning, relations } = schema
  const body =
    name === OPERATIONS
      ? [...describeBriefly(relations, phrases[language].brief), '']
      : [
          '```mermaid',
          erDiagram(schema),
          '```',
          '',
          ...relations.flatMap((each) => describeRelation(each, name, phrases[language].columns)),
        ]
  return [`## ${name}`, '', `${meaning}${language === 'en' ? '.' : '。'}`, '', ...body]
}

function describeBriefly(relations: readonly DescribedRelation[], header: readonly string[]): readonly string[] {
  return markdownTable(
    header,
    relations.map(({ name, meaning, columns }) => [
      `\`${name}\``,
      meaning,
      columns.map((column) => `\`${column.name}\``).join(', '),
    ]),
  )
}

function describeRelation(
  { name, meaning, columns }: DescribedRelation,
  schema: string,
  header: readonly string[],
): readonly string[] {
  return [`### ${schema}.${name}`, '', meaning, '', ...markdownTable(header, columns.map(cellsOf)), '']
}

function cellsOf({ name, type, meaning, source, isKey, personal }: DescribedColumn): readonly string[] {
  const code = `\`${name}\``
  return [isKey ? `**${code}**` : code, type, personal === null ? meaning : `${meaning} 🔒`, source ?? '']
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)]
}

/** Mermaid's notation of a schema: entities with the columns that tell rows apart or join, and how they point to each other. */
export function erDiagram({ relations, joins }: DescribedSchema): string {
  const entities = relations.map(({ name, columns }) => {
    const joining = new Set(joins.filter(({ from }) => from === name).flatMap((join) => join.columns))
    const shown = columns.filter((column) => column.isKey || joining.has(column.name))
    const lines = shown.map((column) => {
      const marks = [...(column.isKey ? ['PK'] : []), ...(joining.has(column.name) ? ['FK'] : [])]
      return `    ${column.type.replaceAll(' ', '_')} ${column.name} ${marks.join(', ')}`
    })
    return [`  ${name} {`, ...lines, '  }'].join('\n')
  })
  const lines = joins.map(
    ({ from, columns, to, isOptional }) => `  ${to} ${isOptional ? '|o' : '||'}--o{ ${from} : "${columns.join(', ')}"`,
  )
  return ['erDiagram', ...entities, ...lines].join('\n')
}

interface DescribedColumn {
  readonly name: string
  readonly type: string
  readonly meaning: string
  /** Section and field of the interface specification; null where the column does not come from one field. */
  readonly source: string | null
  readonly isKey: boolean
  /** Which personal data it shows, in a view. */
  readonly personal: PersonalData | null
}

interface DescribedRelation {
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly meaning: string
  readonly columns: readonly DescribedColumn[]
}

interface DescribedSchema {
  readonly name: string
  readonly meaning: string
  readonly relations: readonly DescribedRelation[]
  /** How they point to each other. */
  readonly joins: readonly Relation[]
}

/** Everything that the declarations say of the database, in one language; asks no database. */
export function collectDictionary(language: Language): readonly DescribedSchema[] {
  const tables = Object.entries(baseSchemas).map(([schema, words]) => ({
    name: schema,
    meaning: words[language],
    relations: Object.entries(baseTables)
      .filter(([name]) => name.startsWith(`${schema}.`))
      .map(([name, table]) => describeTable(name.slice(schema.length + 1), table, language)),
    joins: schema === 'livehouse' ? tableRelations : [],
  }))
  const views = {
    name: SCHEMA,
    meaning: schemaWords[language],
    relations: biViews.map((view) => describeView(view, language)),
    joins: viewRelations(biViews),
  }
  return [...tables, views]
}

function describeTable(
  name: string,
  { kind = 'table', words, key, columns }: BaseTable,
  language: Language,
): DescribedRelation {
  return {
    name,
    kind,
    meaning: words[language],
    columns: Object.entries(columns).map(([column, described]) => ({
      name: column,
      type: described.type,
      meaning: described.words[language],
      source: sourceOf(name, column),
      isKey: key.includes(column),
      personal: null,
    })),
  }
}

/** `4.7 nick`: the endpoint's section and the field. */
function sourceOf(table: string, column: string): string | null {
  const stream = allStreams.find((each) => each.table === table)
  const source = stream?.columns[column]?.source
  return stream !== undefined && source?.kind === 'field' ? `${stream.section} ${source.field}` : null
}

/** As `withSource` writes it behind the words. */
const sourcePattern = / ?[(（]API ([^)）]+)[)）]/

function describeView({ name, grain, remarks, key, columns }: BiView, language: Language): DescribedRelation {
  return {
    name,
    kind: 'view',
    meaning: [grain[language], remarks[language]].filter((text) => text !== '').join(language === 'en' ? '. ' : '。'),
    columns: Object.entries(columns).map(([column, { type, words, personal }]) => ({
      name: column,
      type,
      meaning: words[language].replace(sourcePattern, ''),
      source: sourcePattern.exec(words[language])?.[1] ?? null,
      isKey: key.includes(column),
      personal: personal ?? null,
    })),
  }
}

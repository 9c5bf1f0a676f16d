import type { Language } from '../../bi/view-statements.ts'
import type { DescribedColumn, DescribedRelation, DescribedSchema } from './collect-dictionary.ts'
import { erDiagram } from './er-diagram.ts'

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
export function dictionaryMarkdown(schemas: readonly DescribedSchema[], language: Language): string {
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

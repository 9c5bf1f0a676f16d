import { readCommentLanguage } from '../config/read-bi.ts'
import { readSettings } from '../config.ts'
import { languages } from '../core/language.ts'
import { collectDictionary, type DescribedSchema } from './dictionary/collect-dictionary.ts'
import { dictionaryMarkdown } from './dictionary/dictionary-markdown.ts'
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
    const language = given ?? readSettings(environment, readCommentLanguage) ?? 'en'
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

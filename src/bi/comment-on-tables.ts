import { baseSchemas, baseTables } from './base-tables.ts'
import { quoteText } from './quote.ts'
import type { Language } from './view-statements.ts'

/** `COMMENT ON` the schemas of the tables, each table and column: what the migrations say in English, in either language. */
export function commentOnTables(language: Language): readonly string[] {
  return [
    ...Object.entries(baseSchemas).map(([name, words]) => `comment on schema ${name} is ${quoteText(words[language])}`),
    ...Object.entries(baseTables).flatMap(([name, { words, columns }]) => [
      `comment on table ${name} is ${quoteText(words[language])}`,
      ...Object.entries(columns).map(
        ([column, described]) => `comment on column ${name}.${column} is ${quoteText(described.words[language])}`,
      ),
    ]),
  ]
}

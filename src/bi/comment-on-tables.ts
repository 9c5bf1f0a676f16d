import { baseSchemas, baseTables } from './base-tables.ts'
import { quoteText } from './quote.ts'
import type { Language } from './view-statements.ts'

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

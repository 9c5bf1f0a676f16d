import type { BaseTable } from '../../bi/base-table.ts'
import { baseSchemas, baseTables } from '../../bi/base-tables.ts'
import { biViews } from '../../bi/registry.ts'
import { type Relation, tableRelations, viewRelations } from '../../bi/relations.ts'
import type { BiView, PersonalData } from '../../bi/view.ts'
import { type Language, SCHEMA, schemaWords } from '../../bi/view-statements.ts'
import { allStreams } from '../../streams/registry.ts'

export interface DescribedColumn {
  readonly name: string
  readonly type: string
  readonly meaning: string
  /** Section and field of the interface specification; null where the column does not come from one field. */
  readonly source: string | null
  readonly isKey: boolean
  /** Which personal data it shows, in a view. */
  readonly personal: PersonalData | null
}

export interface DescribedRelation {
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly meaning: string
  readonly columns: readonly DescribedColumn[]
}

export interface DescribedSchema {
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

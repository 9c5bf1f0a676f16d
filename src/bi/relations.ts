import { writtenTables } from '../streams/registry.ts'
import type { BiView } from './view.ts'

/** Rows of one relation that point to a row of another by equal columns. */
export interface Relation {
  readonly from: string
  readonly columns: readonly string[]
  readonly to: string
  /** Whether the other row may be missing. */
  readonly isOptional: boolean
}

/** Among the tables, as the streams declare them. */
export const tableRelations: readonly Relation[] = writtenTables.flatMap(({ table, joins = [] }) =>
  joins.map(({ columns, to, isOptional }) => relation(table, columns, to, isOptional)),
)

/** A column named like the single key of a dimension joins it. @param views those of `livehouse_bi` */
export function viewRelations(views: readonly BiView[]): readonly Relation[] {
  const dimensions = views.filter(({ name, key }) => name.startsWith('dim_') && key.length === 1)
  return [
    ...views.flatMap((view) =>
      dimensions.flatMap(({ name, key: [column = ''] }) =>
        name !== view.name && column in view.columns ? [relation(view.name, [column], name, true)] : [],
      ),
    ),
    ...['fct_signup_answer', 'fct_signup_choice'].map((from) =>
      relation(from, ['questionnaire_key', 'signup_key'], 'fct_signup'),
    ),
  ]
}

function relation(from: string, columns: readonly string[], to: string, isOptional = false): Relation {
  return { from, columns, to, isOptional }
}

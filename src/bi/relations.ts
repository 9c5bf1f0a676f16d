import type { BiView } from './view.ts'

/** Rows of one relation that point to a row of another by equal columns. */
export interface Relation {
  readonly from: string
  readonly columns: readonly string[]
  readonly to: string
  /** Whether the other row may be missing. */
  readonly isOptional: boolean
}

/** Among the tables: the schema has no foreign keys, as a part may land before the whole. */
export const tableRelations: readonly Relation[] = [
  ...['visitors', 'watch_records', 'gifts', 'questionnaires'].map((from) => relation(from, ['channel_id'], 'channels')),
  relation('watch_records', ['channel_id', 'user_id'], 'visitors', true),
  relation('gifts', ['channel_id', 'visitor_id'], 'visitors', true),
  relation('signups', ['channel_id', 'user_id'], 'visitors', true),
  relation('signups', ['channel_id', 'question_id'], 'questionnaires'),
  relation('signup_answers', ['channel_id', 'question_id', 'signup_key'], 'signups'),
  relation('manager_usage', ['manager_id'], 'managers', true),
]

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

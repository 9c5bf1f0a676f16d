import { FORMS_SCHEMA } from '../bi/form-view.ts'
import { SCHEMA } from '../bi/view-statements.ts'
import type { PendingBi } from '../db/bi/read-pending-bi.ts'

const UNASKED = 'LIVEHOUSE_AUTO_MIGRATE is 0, so they stay as they are'
const MENDING = 'Run `livehouse migrate up`'

/** What commands that may not change the schema say of views that are not up to date; none where all are. */
export function describePendingBi({ views, forms }: Pick<PendingBi, 'views' | 'forms'>): readonly string[] {
  const state = {
    current: [],
    missing: [`The views of ${SCHEMA} are not there yet`],
    outdated: [`The views of ${SCHEMA} are not those of this livehouse`],
  }[views].map((seen) => `${seen}: ${UNASKED}. ${MENDING}, or let a DBA run the output of \`livehouse migrate sql\`.`)
  if (forms.length === 0) return state
  const names = forms.map((view) => `${FORMS_SCHEMA}.${view}`).join(', ')
  return [...state, `Not up to date with their questionnaires: ${names}. ${UNASKED}. ${MENDING}.`]
}

import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { commentOnFormView, createFormView, formColumns, FORMS_SCHEMA } from '../form-view.ts'
import { quoteName, quoteText } from '../quote.ts'
import type { Database } from '../../store/database.ts'
import type { BiState } from './read-bi-state.ts'
import { type KnownForm, readForms } from './read-forms.ts'

/** A view in `livehouse_forms` that is not what its questionnaire's headers are now. */
export interface PlannedForm {
  readonly view: string
  /** For one transaction. */
  readonly statements: readonly string[]
}

/** The published questionnaires whose views have to be made, or made anew; asks only. */
export async function planForms(db: Kysely<Database>, state: BiState): Promise<readonly PlannedForm[]> {
  const published = (await readForms(db)).filter(({ hasHeaders }) => hasHeaders)
  return published
    .flatMap((form) => (form.view === null ? [] : { view: form.view, statements: planForm(form.view, form, state) }))
    .filter(({ statements }) => statements.length > 0)
}

/** @returns statements for one transaction; none where the view is as it should be */
function planForm(view: string, form: KnownForm, { timeZone, language, roles }: BiState): readonly string[] {
  const definition = createFormView(view, form, timeZone)
  const comments = commentOnFormView(view, form, language)
  const readers = roles.map(({ name }) => name).join(', ')
  const name = `${FORMS_SCHEMA}.${quoteName(view)}`
  const grants =
    readers === ''
      ? []
      : [`grant usage on schema ${FORMS_SCHEMA} to ${readers}`, `grant select on ${name} to ${readers}`]
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([definition, comments, grants]))
    .digest('hex')
  if (form.fingerprint === fingerprint && form.viewColumns.length > 0) return []
  const columns = formColumns(form)
  const isReplaceable = form.viewColumns.every((column, index) => column === columns[index])
  const place = `channel_id = ${quoteText(form.channelId)} and question_id = ${quoteText(form.questionId)}`
  return [
    ...(isReplaceable ? [] : [`drop view ${name}`]),
    definition,
    ...comments,
    ...grants,
    `update livehouse_ops.published_forms set fingerprint = '${fingerprint}' where ${place}`,
  ]
}

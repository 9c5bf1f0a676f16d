import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { commentOnFormView, createFormView, formColumns, FORMS_SCHEMA, formsSchemaWords } from '../../bi/form-view.ts'
import { quoteName, quoteText } from '../../bi/quote.ts'
import type { Database } from '../database.ts'
import { hasCode } from '../../core/errors.ts'
import { withMigrationLock } from '../migration-lock.ts'
import { dependentsIn } from './dependents-in.ts'
import { type BiState, readBiState } from './read-bi-state.ts'
import { type KnownForm, readForms } from './read-forms.ts'

const MISSING_RIGHT = '42501'

/** What came of it: the views that were made, and what stopped one, as sentences for a person. */
export interface FormsOutcome {
  readonly made: readonly string[]
  readonly notices: readonly string[]
}

/** Makes the views of the published questionnaires what their headers are now; nothing is done where they are so already. */
export async function publishForms(db: Kysely<Database>, signal?: AbortSignal): Promise<FormsOutcome> {
  const { rows } = await sql`select from livehouse_ops.published_forms limit 1`.execute(db)
  if (rows.length === 0) return { made: [], notices: [] }
  const state = await readBiState(db)
  const schema = await planSchema(db, state)
  const published = (await readForms(db)).filter(({ view, hasHeaders }) => view !== null && hasHeaders)
  const made: string[] = []
  const notices: string[] = []
  for (const form of published) {
    const view = form.view ?? ''
    const plan = planForm(view, form, state)
    if (plan.length === 0) continue
    try {
      const statements = [...schema, ...plan].join(';\n')
      await withMigrationLock(db, signal, async (transaction) => await sql.raw(statements).execute(transaction))
      made.push(view)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === undefined) throw error
      notices.push(`The view ${FORMS_SCHEMA}.${view} is not up to date: ${reason}.`)
    }
  }
  return { made, notices }
}

/** A DBA may have made the schema for this user, who may then not make one, nor describe that of somebody else. */
async function planSchema(db: Kysely<Database>, { language }: BiState): Promise<readonly string[]> {
  const { rows } = await sql<{ isOwn: boolean }>`
    select pg_has_role(nspowner, 'usage') as "isOwn" from pg_namespace where nspname = ${FORMS_SCHEMA}`.execute(db)
  const describe = `comment on schema ${FORMS_SCHEMA} is ${quoteText(formsSchemaWords[language])}`
  if (rows[0] === undefined) return [`create schema if not exists ${FORMS_SCHEMA}`, describe]
  return rows[0].isOwn ? [describe] : []
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

function reasonOf(error: unknown): string | undefined {
  if (hasCode(error, 'db.refused') && error.details.sqlState === MISSING_RIGHT) {
    return (
      `${error.details.reason}. Let a DBA run \`create schema ${FORMS_SCHEMA} authorization USER\` with the user of ` +
      'DATABASE_URL, who also has to own the tables of livehouse'
    )
  }
  const dependents = dependentsIn(error)
  if (dependents === undefined) return undefined
  return `its questions have changed, and ${dependents} stands on it. Keep its definition (pg_get_viewdef), drop it, run any command, create it again`
}

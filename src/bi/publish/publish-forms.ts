import { type Kysely, sql } from 'kysely'
import {
  FORMS_SCHEMA,
  formsSchemaWords,
  commentOnFormView,
  createFormView,
  formColumns,
  type Form,
} from '../form-view.ts'
import { quoteText, quoteName } from '../quote.ts'
import type { Database } from '../../store/database.ts'
import { hasCode } from '../../core/errors.ts'
import { withMigrationLock } from '../../store/migration-lock.ts'
import { dependentsIn } from './withdraw-bi.ts'
import { type BiState, readBiState } from './bi-state.ts'
import { createHash } from 'node:crypto'

const MISSING_RIGHT = '42501'
const LOCK_NOT_AVAILABLE = '55P03'

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
  const made: string[] = []
  const notices: string[] = []
  for (const { view, statements: plan } of await planForms(db, state)) {
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

function reasonOf(error: unknown): string | undefined {
  if (hasCode(error, 'db.refused') && error.details.sqlState === MISSING_RIGHT) {
    return (
      `${error.details.reason}. Let a DBA run \`create schema ${FORMS_SCHEMA} authorization USER\` with the user of ` +
      'DATABASE_URL, who also has to own the tables of livehouse'
    )
  }
  if (hasCode(error, 'db.refused') && error.details.sqlState === LOCK_NOT_AVAILABLE) return error.details.reason
  const dependents = dependentsIn(error)
  if (dependents === undefined) return undefined
  return `its questions have changed, and ${dependents} stands on it. Keep its definition (pg_get_viewdef), drop it, run any command, create it again`
}

/** A view in `livehouse_forms` that is not what its questionnaire's headers are now. */
interface PlannedForm {
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

/** A questionnaire of the warehouse, published or not. */
export interface KnownForm extends Form {
  /** Whether its headers are known: some of its signups have been read. */
  readonly hasHeaders: boolean
  /** Name of its view in `livehouse_forms`; null where it has none. */
  readonly view: string | null
  /** Of the view as it was last made. */
  readonly fingerprint: string | null
  /** Columns of the view as it is, in order; none where it is not there. */
  readonly viewColumns: readonly string[]
  /** Headers of questions whose answers every analyst may see; empty for one without a header. */
  readonly cleared: readonly string[]
  readonly signupCount: number
}

/** Every questionnaire, by channel. `isCounted`: with the number of its signups, else 0. User id, nickname, phone and signup time (API 2.9) are no questions. */
export async function readForms(db: Kysely<Database>, { isCounted = false } = {}): Promise<readonly KnownForm[]> {
  const count = sql`(select count(*)::integer from livehouse.signups s
        where s.channel_id = q.channel_id and s.question_id = q.question_id and s.removed_at is null)`
  const { rows } = await sql<KnownForm>`
    select q.channel_id as "channelId", q.question_id as "questionId", q.name as title, p.view_name as view, p.fingerprint,
      h.title is not null as "hasHeaders",
      array(
        select case jsonb_typeof(t.header) when 'null' then null when 'string' then nullif(t.header #>> '{}', '') else t.header::text end
        from jsonb_array_elements(h.title) with ordinality t (header, no)
        where t.no > 3 and t.no < jsonb_array_length(h.title) order by t.no
      ) as questions,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = to_regclass('livehouse_forms.' || quote_ident(p.view_name)) and a.attnum > 0 order by a.attnum
      ) as "viewColumns",
      array(select c.question from livehouse_ops.cleared_questions c
        where c.channel_id = q.channel_id and c.question_id = q.question_id order by 1) as cleared,
      ${isCounted ? count : sql`0`} as "signupCount"
    from livehouse.questionnaires q
      left join livehouse_ops.published_forms p on p.channel_id = q.channel_id and p.question_id = q.question_id
      left join livehouse_ops.headers h on h.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
    order by q.channel_id, q.created_at, q.question_id`.execute(db)
  return rows
}

import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { ifPossible } from '../base-tables.ts'
import { commentOnFormView, createFormView, FORMS_SCHEMA, type Form, formsSchemaWords } from '../form-view.ts'
import { quoteName, quoteText } from '../quote.ts'
import { createSchema, grantViews, replaceViews } from '../view-statements.ts'
import { applyPlan } from './apply-plan.ts'
import { type BiState, fingerprintOf, readBiState } from './bi-state.ts'

const ASK_DBA =
  `Let a DBA run \`create schema ${FORMS_SCHEMA} authorization USER\`, where USER is the user of DATABASE_URL, ` +
  'who also has to own the tables of livehouse'

/** The names of the views that were created or replaced, and by name why others could not be. */
export type FormsOutcome = Awaited<ReturnType<typeof publishForms>>

/** Updates the views of published questionnaires whose headers have changed, and creates missing ones. */
export async function publishForms(db: Db, signal?: AbortSignal) {
  const views: string[] = []
  const notices = new Map<string, string>()
  for (const view of (await planForms(db)).keys()) {
    const outcome = await applyPlan(db, signal, async (at) => (await planForms(at, view)).get(view) ?? [], ASK_DBA)
    if (outcome.status === 'published') views.push(view)
    if (outcome.status === 'blocked')
      notices.set(view, `The view ${FORMS_SCHEMA}.${view} is not up to date: ${outcome.reason}.`)
  }
  return { views, notices }
}

/**
 * Plans the views, or the one named, that have to be created or replaced: by name, the statements of one transaction
 * each. Only reads.
 */
export async function planForms(db: Db, view = ''): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await sql`select from livehouse_ops.published_forms limit 1`.execute(db)
  if (rows.length === 0) return new Map()
  const state = await readBiState(db)
  const plans = (await readForms(db, { view })).flatMap((form) =>
    form.view !== null && form.hasHeaders ? [[form.view, planForm(form.view, form, state)] as const] : [],
  )
  return new Map(plans.filter(([, statements]) => statements.length > 0))
}

function planForm(view: string, form: KnownForm, { timeZone, language, roles }: BiState): readonly string[] {
  const definition = createFormView(view, form, timeZone)
  const comments = commentOnFormView(view, form, language)
  const name = `${FORMS_SCHEMA}.${quoteName(view)}`
  const grants = grantViews(roles, FORMS_SCHEMA, [quoteName(view)])
  const fingerprint = fingerprintOf([definition, comments, grants])
  if (form.fingerprint === fingerprint && form.viewExists) return []
  const condition = `channel_id = ${quoteText(form.channelId)} and question_id = ${quoteText(form.questionId)}`
  return [
    createSchema(FORMS_SCHEMA),
    ifPossible([`comment on schema ${FORMS_SCHEMA} is ${quoteText(formsSchemaWords[language])}`]),
    replaceViews([definition], [name]),
    ...comments,
    ...grants,
    `update livehouse_ops.published_forms set fingerprint = '${fingerprint}' where ${condition}`,
  ]
}

/** A questionnaire of the warehouse, published or not. */
export interface KnownForm extends Form {
  /** Whether its headers are known; the service sends them with its signups. */
  readonly hasHeaders: boolean
  /** Name of its view in `livehouse_forms`; null if it is not published. */
  readonly view: string | null
  /** Fingerprint of the view as last published. */
  readonly fingerprint: string | null
  readonly viewExists: boolean
  /** Numbers of the questions whose answers every analyst may see, under the current headers. */
  readonly clearedQuestions: readonly number[]
  readonly signupCount: number
}

/**
 * Reads every questionnaire, or the one with a view of this name, by channel; `signupCount` is 0 unless `isCounted`.
 * The columns user id, nickname, phone and signup time (API 2.9) are not questions.
 */
export async function readForms(db: Db, { isCounted = false, view = '' } = {}): Promise<readonly KnownForm[]> {
  const count = sql`(select count(*)::integer from livehouse.signups s
        where s.channel_id = q.channel_id and s.question_id = q.question_id and s.removed_at is null)`
  const { rows } = await sql<KnownForm>`
    select q.channel_id as "channelId", q.question_id as "questionId", q.name as title, p.view_name as view,
      p.fingerprint,
      h.title is not null as "hasHeaders",
      t.questions,
      to_regclass('livehouse_forms.' || quote_ident(p.view_name)) is not null as "viewExists",
      array(select c.question_no from livehouse_ops.cleared_questions c
        where c.channel_id = q.channel_id and c.question_id = q.question_id
          and c.question = coalesce(t.questions[c.question_no], '') order by 1) as "clearedQuestions",
      ${isCounted ? count : sql`0`} as "signupCount"
    from livehouse.questionnaires q
      left join livehouse_ops.published_forms p on p.channel_id = q.channel_id and p.question_id = q.question_id
      left join livehouse_ops.headers h on h.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
      cross join lateral (select array(
        select case jsonb_typeof(e.header) when 'null' then null when 'string' then nullif(e.header #>> '{}', '')
          else e.header::text end
        from jsonb_array_elements(h.title) with ordinality e (header, no)
        where e.no > 3 and e.no < jsonb_array_length(h.title) order by e.no
      )) t (questions)
    where ${view} in ('', p.view_name)
    order by q.channel_id, q.created_at, q.question_id`.execute(db)
  return rows
}

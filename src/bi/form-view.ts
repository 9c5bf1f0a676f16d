import type { Language, Words } from '../core/column.ts'
import { fillZone, quoteName, quoteText } from './quote.ts'
import { safeName, uniqueName } from './safe-names.ts'
import type { BiColumns } from './view.ts'
import { fctSignup } from './views/fct-signup.ts'
import { HIDDEN, mask } from './views/fragments/masks.ts'

export const FORMS_SCHEMA = 'livehouse_forms'

export const formsSchemaWords: Words = {
  en:
    'For analysts: a view for each published questionnaire, with a column for each question; answers masked unless ' +
    'the question is cleared',
  zh: '面向分析师：每份已发布问卷一个视图，每题一列；题目未公开时答案脱敏',
}

/** A questionnaire with the headers of its questions, in order; null for a question without one. */
export interface Form {
  readonly channelId: string
  readonly questionId: string
  readonly title: string | null
  readonly questions: readonly (string | null)[]
}

/** The columns of every form: those of `fct_signup`, except its counts, and `is_test`, which is one value a form. */
const fixedColumns: BiColumns = Object.fromEntries(
  Object.entries(fctSignup.columns).filter(([name]) => !['question_count', 'answer_count', 'is_test'].includes(name)),
)

/** Names the column of each question: safe, unique, and different from the columns of every form. */
export function formColumnNames(questions: readonly (string | null)[]): readonly string[] {
  const takenNames = new Set(Object.keys(fixedColumns))
  return questions.map((question, index) => {
    const name = uniqueName(safeName(question ?? '', `question_${index + 1}`), takenNames)
    takenNames.add(name)
    return name
  })
}

/**
 * Creates the view of a form, or replaces it in place (see `createView`). A signup that was read under other headers
 * has NULL in the columns of questions that it did not have in the same place, until it is read again.
 */
export function createFormView(view: string, form: Form, timeZone: string): string {
  const { channelId, questionId, questions } = form
  const names = formColumnNames(questions)
  const inZone = (text: string) => fillZone(text, timeZone)
  const fixedSelects = Object.entries(fixedColumns).map(([name, { sql }]) => `${inZone(sql)} as ${name}`)
  const condition = `c.channel_id = ${quoteText(channelId)} and c.question_id = ${quoteText(questionId)}`
  const answers = questions.map((question, index) => {
    const [header, at] = [question === null ? 'null' : quoteText(question), `[${index + 1}]`]
    const isCleared = `exists (select from livehouse_ops.cleared_questions c
      where ${condition} and c.question_no = ${index + 1} and c.question = coalesce(${header}, ''))`
    const answer = mask('answers', `x.answers${at}`, isCleared)
    const name = quoteName(names[index] ?? '')
    return `case when x.questions${at} is not distinct from ${header} then ${answer} end as ${name}`
  })
  // A left join of one row, which Postgres leaves out of a query that selects no answer: then no answers are unpacked.
  return `create or replace view ${FORMS_SCHEMA}.${quoteName(view)} with (security_barrier) as
  select ${[...Object.keys(fixedColumns).map((name) => `s.${name}`), ...answers].join(',\n    ')}
  from (
    select ${fixedSelects.join(',\n    ')}, u.answers as livehouse_answers
    ${inZone(fctSignup.from)} and u.channel_id = ${quoteText(channelId)} and u.question_id = ${quoteText(questionId)}
  ) s
  left join lateral (
    select array_agg(a ->> 'question' order by no) as questions, array_agg(a ->> 'answer' order by no) as answers
    from jsonb_array_elements(s.livehouse_answers) with ordinality e (a, no)
  ) x on true`
}

/** Comments on the view of a form and on each of its columns, with the whole headers. */
export function commentOnFormView(view: string, form: Form, language: Language): readonly string[] {
  const { channelId, questionId, title, questions } = form
  const [target, name] = [`${FORMS_SCHEMA}.${quoteName(view)}`, title ?? questionId]
  const words = {
    en: `A row is: a signup with ${name} (questionnaire ${questionId} of channel ${channelId}); without removed ones.`,
    zh: `每行：${name} 的一次报名（频道 ${channelId} 的问卷 ${questionId}）；已移除的不计入。`,
  }
  const headers = questions.map((question, index) =>
    language === 'en'
      ? `Question ${index + 1}: ${question ?? 'without a header'}; ${HIDDEN} unless cleared (API 2.9 data)`
      : `第 ${index + 1} 题：${question ?? '（无标题）'}；未公开且没有 livehouse_pii 角色时为 ${HIDDEN}（API 2.9 data）`,
  )
  const texts = [...Object.values(fixedColumns).map((column) => column.words[language]), ...headers]
  return [
    `comment on view ${target} is ${quoteText(words[language])}`,
    ...[...Object.keys(fixedColumns), ...formColumnNames(questions)].map(
      (column, index) => `comment on column ${target}.${quoteName(column)} is ${quoteText(texts[index] ?? '')}`,
    ),
  ]
}

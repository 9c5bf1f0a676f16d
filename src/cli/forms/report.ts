import { formColumnNames, FORMS_SCHEMA } from '../../bi/form-view.ts'
import type { KnownForm } from '../../db/bi/read-forms.ts'
import { formatTable } from '../table.ts'

/** All questionnaires, a line each. */
export function describeForms(forms: readonly KnownForm[]): string[] {
  if (forms.length === 0)
    return ['the warehouse has no questionnaire yet: livehouse sync --streams questionnaires,signups']
  const rows = forms.map((form) => [
    form.channelId,
    form.questionId,
    form.title,
    form.hasHeaders ? form.questions.length : '–',
    form.signupCount,
    form.view === null ? '–' : `${FORMS_SCHEMA}.${form.view}`,
    clearedNumbers(form).join(', ') || '–',
  ])
  return formatTable(['channel', 'questionnaire', 'name', 'questions', 'signups', 'view', 'cleared'], rows)
}

/** The questions of one questionnaire, a line each. */
export function describeQuestions(form: KnownForm): string[] {
  const cleared = new Set(clearedNumbers(form))
  const names = formColumnNames(form.questions)
  const rows = form.questions.map((question, index) => [
    index + 1,
    names[index],
    cleared.has(index + 1) ? 'cleared' : 'masked',
    question,
  ])
  return [...describeForms([form]), '', ...formatTable(['no', 'column', 'answers', 'question'], rows)]
}

/** The same for programs. */
export function formObject(form: KnownForm): Readonly<Record<string, unknown>> {
  const names = formColumnNames(form.questions)
  const cleared = new Set(clearedNumbers(form))
  return {
    channel_id: form.channelId,
    question_id: form.questionId,
    name: form.title,
    signups: form.signupCount,
    view: form.view === null ? null : `${FORMS_SCHEMA}.${form.view}`,
    questions: form.questions.map((question, index) => ({
      question_no: index + 1,
      question,
      column: names[index],
      is_cleared: cleared.has(index + 1),
    })),
  }
}

/** Numbers of the questions that are cleared, as the headers stand now. */
function clearedNumbers({ questions, cleared }: KnownForm): readonly number[] {
  return questions.flatMap((question, index) => (cleared.includes(question ?? '') ? [index + 1] : []))
}

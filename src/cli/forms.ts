import { changeForm, type FormChange } from '../app/change-form.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { FORMS_SCHEMA, formColumnNames } from '../bi/form-view.ts'
import { type KnownForm, readForms } from '../bi/publish/publish-forms.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { readInteger } from './flags.ts'
import { formatTable } from './format.ts'
import { defineCommand, refuseWords } from './usage.ts'

export const forms = defineCommand(
  {
    about: `Publishes questionnaires for analysts: each has its own view in livehouse_forms, with a row per signup and
a column per question. Answers are masked for livehouse_analyst until their question is cleared, by number and header.`,
    actions: {
      list: 'every questionnaire, or the questions of one with numbers and whether they are cleared (the default)',
      publish: 'makes the view, or brings it up to date',
      unpublish: 'removes it',
      clear: 'lets every analyst see the answers to these questions, in all views; --undo masks them again',
    },
    defaultAction: 'list',
    words: '[QUESTION_ID] [QUESTION_NO]…',
    flags: {
      channel: ['C', 'the channel, where several have a questionnaire of this id'],
      undo: ['', 'masks the answers again', 'clear'],
    },
    notes: 'Exit codes: 0 done, 1 the database cannot be reached or refuses, 2 wrong use or an unknown questionnaire.',
    examples: `livehouse forms
livehouse forms publish a1b2c3
livehouse forms list a1b2c3
livehouse forms clear a1b2c3 2 5
livehouse forms clear a1b2c3 5 --undo`,
  },
  ({ action, values, words: [questionId, ...rest] }, refuse): FormChange => {
    if (action !== 'list' && questionId === undefined)
      refuse(`${action} needs the id of a questionnaire, see forms list`)
    if (action === 'clear' && questionId !== undefined && rest.length === 0)
      refuse('clear needs the numbers of questions, see forms list QUESTION_ID')
    if (action !== 'clear') refuseWords(rest, refuse)
    const numbers = action === 'clear' ? rest.map((each) => readInteger('QUESTION_NO', each, refuse) ?? 0) : []
    return { action, questionId, numbers, channelId: values.channel, isUndone: values.undo }
  },
  async (context, asked) => {
    await using db = await openWarehouse(context, readSettings(context.environment, readDatabaseSettings))
    const form = await changeForm(context, db, asked)
    const all = await readForms(db, { isCounted: true })
    const isIt = (each: KnownForm) => each.channelId === form?.channelId && each.questionId === form.questionId
    for (const line of form === undefined ? describeForms(all) : all.filter(isIt).flatMap(describeQuestions))
      context.print(line)
    return 0
  },
)

function describeForms(forms: readonly KnownForm[]): string[] {
  if (forms.length === 0)
    return ['the warehouse has no questionnaire yet: livehouse sync --streams questionnaires,signups']
  const rows = forms.map((form) => [
    form.channelId,
    form.questionId,
    form.title,
    form.hasHeaders ? form.questions.length : '–',
    form.signupCount,
    form.view === null ? '–' : `${FORMS_SCHEMA}.${form.view}`,
    form.clearedQuestions.join(', ') || '–',
  ])
  return formatTable(['channel', 'questionnaire', 'name', 'questions', 'signups', 'view', 'cleared'], rows)
}

function describeQuestions(form: KnownForm): string[] {
  const names = formColumnNames(form.questions)
  const rows = form.questions.map((question, index) => [
    index + 1,
    names[index],
    form.clearedQuestions.includes(index + 1) ? 'cleared' : 'masked',
    question,
  ])
  return [...describeForms([form]), '', ...formatTable(['no', 'column', 'answers', 'question'], rows)]
}

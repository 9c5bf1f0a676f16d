import { FORMS_SCHEMA } from '../bi/form-view.ts'
import { type KnownForm, publishForms, readForms } from '../bi/publish/publish-forms.ts'
import { LivehouseError, wrongUse } from '../core/errors.ts'
import { addPublishedForm, removePublishedForm, setCleared } from '../ledger/questionnaires.ts'
import type { Db } from '../store/database.ts'
import type { AppContext } from './context.ts'

/** A change of what analysts see of a questionnaire. `numbers`: the numbers of questions, from 1. */
export interface FormChange {
  readonly action: 'list' | 'publish' | 'unpublish' | 'clear'
  readonly questionId: string | undefined
  /** If undefined, only one channel may have a questionnaire with this id. */
  readonly channelId: string | undefined
  readonly numbers: readonly number[]
  readonly isUndone: boolean
}

/**
 * Applies the change, if any, and says what was done.
 * @returns the questionnaire before the change; undefined if none is named
 * @throws usage.invalid if the questionnaire is unknown or the change is impossible; db.refused
 */
export async function changeForm(
  { signal, remark }: AppContext,
  db: Db,
  { action, questionId, channelId: given, numbers, isUndone }: FormChange,
): Promise<KnownForm | undefined> {
  if (questionId === undefined) return undefined
  const form = findForm(await readForms(db), questionId, given)
  const { channelId, questions } = form
  const name = `questionnaire ${questionId} of channel ${channelId}`
  if ((action === 'publish' || action === 'clear') && !form.hasHeaders)
    throw wrongUse(`the questions of ${name} are not known yet: livehouse sync --streams signups reads them`)
  switch (action) {
    case 'list':
      break
    case 'publish': {
      const view = await addPublishedForm(db, form)
      const { views, notices } = await publishForms(db, signal)
      for (const notice of notices.values()) remark(notice)
      const refusal = notices.get(view)
      if (refusal !== undefined) {
        // Otherwise every later command would try to create the view, and fail.
        if (form.view === null) await removePublishedForm(db, form, view)
        throw new LivehouseError('db.refused', refusal, { reason: refusal, sqlState: '42501' })
      }
      remark(views.includes(view) ? `published: ${FORMS_SCHEMA}.${view}` : `${FORMS_SCHEMA}.${view} is up to date`)
      break
    }
    case 'unpublish':
      if (form.view === null) throw wrongUse(`${name} is not published`)
      await removePublishedForm(db, form, form.view)
      remark(`removed: ${FORMS_SCHEMA}.${form.view}`)
      break
    case 'clear': {
      const surplus = numbers.filter((number) => number > questions.length).join(', ')
      if (surplus !== '')
        throw wrongUse(`there is no question ${surplus}: questionnaire ${questionId} has ${questions.length}`)
      await setCleared(db, form, numbers, !isUndone)
      break
    }
  }
  return form
}

function findForm(all: readonly KnownForm[], questionId: string, channelId: string | undefined): KnownForm {
  const matches = all.filter((form) => form.questionId === questionId)
  const [form, another] = matches.filter((each) => channelId === undefined || each.channelId === channelId)
  if (form === undefined) {
    const where = channelId === undefined ? 'in the warehouse' : `of channel ${channelId}`
    throw wrongUse(`there is no questionnaire ${JSON.stringify(questionId)} ${where}, see livehouse forms list`)
  }
  if (another === undefined) return form
  const channels = matches.map((each) => each.channelId).join(', ')
  throw wrongUse(`the channels ${channels} have a questionnaire ${questionId}; --channel should say which is meant`)
}

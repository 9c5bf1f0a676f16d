import { type BiColumn, type BiColumns, type BiView, bool, date, smallint, text } from '../view.ts'
import { eventKey, joinViewer } from './fragments/identity.ts'
import { localDay } from './fragments/local-time.ts'
import { HIDDEN, mask } from './fragments/masks.ts'
import { channelId, isTest, matchedViewer, questionnaireKey } from './fragments/shared-columns.ts'

/** The columns that identify the question of an answer. */
export const questionColumns: BiColumns = {
  ...channelId('a.channel_id'),
  question_id: text('a.question_id', 'Questionnaire hash id', '问卷 ID', '2.8 question_id'),
  ...questionnaireKey('a'),
  signup_key: text(eventKey('a.signup_key', 'u.signed_up_at'), 'The signup; joins fct_signup', '报名，关联 fct_signup'),
  question_no: smallint('a.question_no', 'Number of the question, from 1', '题号（从 1 起）'),
  question: text('a.question', 'Header of the question, as the operator wrote it', '题目（运营者填写）', '2.9 title'),
}

/** The columns of who answered, and when. */
export const answererColumns: BiColumns = {
  ...matchedViewer('u', 'user_id'),
  day: date(localDay('u.signed_up_at'), 'Day of the signup; joins dim_date', '报名日期，关联 dim_date'),
}

/** Makes a column of the text of an answer: masked as free text, unless the question has been cleared. */
export function answerText(sql: string, en: string, zh: string): BiColumn {
  return {
    ...text(
      mask('answers', sql, 'c.question is not null'),
      `${en}; ${HIDDEN} unless the question has been cleared or the reader has the role livehouse_pii`,
      `${zh}；题目未公开且没有 livehouse_pii 角色时为 ${HIDDEN}`,
      '2.9 data',
    ),
    personal: 'answers',
  }
}

export const isCleared = bool('c.question is not null', 'Whether all analysts see answers to it', '题目是否已公开')

/** A question is cleared by its number and header: if either changes, its answers are hidden again. */
export const answersFrom = `from livehouse.signup_answers a
  join livehouse.signups u on u.channel_id = a.channel_id and u.question_id = a.question_id
    and u.signup_key = a.signup_key
  left join livehouse_ops.cleared_questions c on c.channel_id = a.channel_id and c.question_id = a.question_id
    and c.question_no = a.question_no and c.question = coalesce(a.question, '')
  ${joinViewer('u', 'user_id')}`

/** The options that the answer `a` chose, as many as a smallint can number. */
export const options = `(array_remove(string_to_array(a.answer, '||'), ''))[:32767]`

export const fctSignupAnswer: BiView = {
  name: 'fct_signup_answer',
  grain: { en: 'A question of a signup, answered or not', zh: '一次报名中的一道题（无论是否作答）' },
  remarks: {
    en: 'Several choices for one question are joined by || here; fct_signup_choice has a row for each.',
    zh: '多选题的选项以 || 连接；逐项见 fct_signup_choice。',
  },
  key: ['questionnaire_key', 'signup_key', 'question_no'],
  hidesRows: true,
  columns: {
    ...questionColumns,
    ...answererColumns,
    answer: answerText('a.answer', 'Answer as received', '答案原文'),
    is_answered: bool('a.answer is not null', 'Whether the question was answered', '是否作答'),
    is_multiple: bool(`coalesce(cardinality(${options}) > 1, false)`, 'Whether it has several choices', '是否多选'),
    is_cleared: isCleared,
    ...isTest('a.channel_id'),
  },
  from: `${answersFrom}
  where u.removed_at is null`,
}

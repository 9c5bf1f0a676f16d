import { type BiView, smallint } from '../view.ts'
import { answererColumns, answersFrom, answerText, isCleared, options, questionColumns } from './fct-signup-answer.ts'
import { isTest } from './fragments/shared-columns.ts'

export const fctSignupChoice: BiView = {
  name: 'fct_signup_choice',
  grain: { en: 'A chosen option of an answered question', zh: '已作答题目的一个选项' },
  remarks: {
    en: 'Answers are split at ||, into at most 32,767 options; empty ones are left out.',
    zh: '不含 || 的答案为一个选项；含 || 时逐项拆分（至多 32767 项），忽略空项。',
  },
  key: ['questionnaire_key', 'signup_key', 'question_no', 'option_no'],
  hidesRows: true,
  columns: {
    ...questionColumns,
    option_no: smallint('o.number::smallint', 'Number of the option, from 1', '选项在答案中的序号（从 1 起）'),
    ...answererColumns,
    option: answerText('o.option', 'The option', '选项'),
    option_count: smallint(`cardinality(${options})::smallint`, 'Number of options of the answer', '该答案的选项数'),
    is_cleared: isCleared,
    ...isTest('a.channel_id'),
  },
  from: `${answersFrom}
  cross join lateral unnest(${options}) with ordinality o (option, number)
  where u.removed_at is null and a.answer is not null`,
}

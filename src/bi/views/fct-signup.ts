import { signups } from '../../streams/signups.ts'
import { type BiView, integer, text } from '../view.ts'
import { eventKey, joinViewer } from './fragments/identity.ts'
import { event } from './fragments/local-time.ts'
import { personalColumn } from './fragments/masks.ts'
import { channelId, isTest, matchedViewer, questionnaireKey } from './fragments/shared-columns.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const signup = streamColumns(signups, 'u')

export const fctSignup: BiView = {
  name: 'fct_signup',
  grain: { en: 'A signup: a filled-in questionnaire', zh: '一次报名（一份已填写的问卷）' },
  remarks: { en: 'Signups that the service no longer has are left out.', zh: '服务端已不存在的报名不计入。' },
  key: ['questionnaire_key', 'signup_key'],
  hidesRows: true,
  columns: {
    ...channelId('u.channel_id'),
    question_id: signup('question_id'),
    ...questionnaireKey('u'),
    signup_key: text(
      eventKey('u.signup_key', 'u.signed_up_at'),
      'Key of the signup, made by livehouse, as the service has none',
      '报名标识（服务端没有，由 livehouse 生成）',
    ),
    ...matchedViewer('u', 'user_id'),
    ...event('signed_up', signup('signed_up_at')),
    question_count: integer('jsonb_array_length(u.answers)', 'Number of questions', '题目数'),
    answer_count: integer(
      `case when u.answers is not null
        then (select count(*) from jsonb_array_elements(u.answers) a where a ->> 'answer' is not null)::integer end`,
      'Number of questions that were answered',
      '已回答的题目数',
    ),
    nickname: personalColumn('nickname', signup('nickname')),
    phone: personalColumn('phone', signup('phone')),
    occurrence: signup('occurrence'),
    ...isTest('u.channel_id'),
  },
  from: `from livehouse.signups u
  ${joinViewer('u', 'user_id')}
  where u.removed_at is null`,
}

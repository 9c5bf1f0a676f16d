import { questionnaires } from '../../streams/questionnaires.ts'
import { type BiView, bool, integer, text } from '../view.ts'
import { moment } from './fragments/local-time.ts'
import { channelId } from './fragments/shared-columns.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const questionnaire = streamColumns(questionnaires, 'q')

export const dimQuestionnaire: BiView = {
  name: 'dim_questionnaire',
  grain: { en: 'A questionnaire of a channel', zh: '一个频道的一份问卷' },
  remarks: { en: '', zh: '' },
  key: ['questionnaire_key'],
  columns: {
    questionnaire_key: text(`q.channel_id || ':' || q.question_id`, 'Key: channel_id:question_id', '主键'),
    ...channelId('q.channel_id'),
    question_id: questionnaire('question_id'),
    questionnaire_name: questionnaire('name'),
    position: questionnaire('position'),
    question_count: integer(
      'jsonb_array_length(h.title) - 4',
      'Number of questions, as last seen; NULL until the service has sent its headers',
      '题目数（以最近一次为准）；尚未读到表头时为 NULL',
    ),
    is_before_watching: bool('q.position = 1', 'Whether it is shown before the watch page', '是否在观看页之前'),
    is_open: questionnaire('is_open'),
    ...moment('created', questionnaire('created_at')),
  },
  from: `from livehouse.questionnaires q
  left join livehouse_ops.headers h on h.partition = 'channel=' || q.channel_id || '/question=' || q.question_id`,
}

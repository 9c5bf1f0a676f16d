import { defineStream } from '../core/stream.ts'
import { channelColumn, field, required } from './columns.ts'
import { byPageIndex, errcodeEnvelope } from './wire.ts'

/** Questionnaires of a channel, one row each. API 4.10, fields 2.8. */
export const questionnaires = defineStream({
  name: 'questionnaires',
  label: { en: 'Questionnaires', zh: '问卷' },
  section: '4.10',
  words: { en: 'Questionnaires of a channel, one row each (API 4.10)', zh: '频道的问卷，每行一份（API 4.10）' },
  columns: {
    channel_id: channelColumn,
    question_id: required(field.id('question_id', 'Questionnaire hash id', '问卷 ID')),
    name: field.text('name', 'Questionnaire name', '问卷名称'),
    position: field.smallint('position', '0 inside the watch page, 1 before it', '0：观看页内；1：观看页前'),
    is_open: field.boolean('status', 'Whether the questionnaire is on', '问卷是否开启'),
    created_at: field.time('created_at', 'Creation', '创建时间'),
  },
  key: ['channel_id', 'question_id'],
  partitionedBy: 'channel',
  listsQuestions: true,
  wire: {
    method: 'GET',
    path: '/v1/activities/{channel}/getQuestionList',
    place: 'body',
    ...byPageIndex,
    envelope: { ...errcodeEnvelope, items: 'question_list' },
  },
  pageSize: 100,
  bornColumn: 'created_at',
})

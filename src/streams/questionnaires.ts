import { defineStream } from '../core/stream.ts'
import { booleanField, idField, partitionColumn, required, smallintField, textField, timeField } from './columns.ts'
import { byPageIndex, errcodeEnvelope } from './wire.ts'

/** One row a questionnaire of a channel. API 4.10, fields 2.8. */
export const questionnaires = defineStream({
  name: 'questionnaires',
  label: { en: 'Questionnaires', zh: '问卷' },
  table: 'questionnaires',
  section: '4.10',
  comment: 'Questionnaires of a channel, one row each (API 4.10)',
  columns: {
    channel_id: partitionColumn('channel', 'Channel id'),
    question_id: required(idField('question_id', 'Questionnaire hash id')),
    name: textField('name', 'Questionnaire name'),
    position: smallintField('position', '0 inside the watch page, 1 before it'),
    is_open: booleanField('status', 'Whether the questionnaire is on'),
    created_at: timeField('created_at', 'Creation'),
  },
  key: ['channel_id', 'question_id'],
  partitionedBy: 'channel',
  wire: {
    method: 'GET',
    path: '/v1/activities/{channel}/getQuestionList',
    place: 'body',
    ...byPageIndex,
    envelope: { ...errcodeEnvelope, items: 'question_list' },
  },
  pageSize: 100,
  timeColumns: [],
  lookbackDays: 0,
  marksRemoved: false,
  otherFields: [],
})

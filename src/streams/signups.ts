import type { ColumnTypes, FieldParser, Row } from '../core/column.ts'
import { type ChildTable, defineStream, type ItemFields, type Rejection } from '../core/stream.ts'
import { exactJson } from '../core/text.ts'
import { kindOf, rejection, text } from '../transform/read-item.ts'
import { channelColumn, computedColumn, field, questionColumn, required } from './columns.ts'
import { byPageIndex, errcodeEnvelope } from './wire.ts'

/** One answered question, in the order of the questionnaire's columns. */
interface Answer {
  readonly question: string | null
  readonly answer: string | null
}

/** The questions stand between user id, nickname and phone on one side and the signup time on the other (API 2.9). */
const LEADING_CELLS = 3
const TRAILING_CELLS = 1

const signupAnswers: ChildTable = {
  table: 'signup_answers',
  words: { en: 'Answers of a signup, one row a question (API 4.11)', zh: '报名的答案，每题一行（API 4.11）' },
  columns: {
    channel_id: channelColumn,
    question_id: questionColumn,
    signup_key: computedColumn('text', 'The signup that the answer belongs to', '答案所属的报名'),
    question_no: computedColumn(
      'smallint',
      'Number of the question, from 1, in the order of the questionnaire',
      '题号，从 1 起，按问卷顺序',
    ),
    question: computedColumn('text', 'Header of the question, free text of the operator', '题目，运营者自由填写'),
    answer: computedColumn(
      'text',
      'Answer as it came; several choices are joined by ||',
      '答案原文；多个选项以 || 连接',
    ),
  },
  key: ['channel_id', 'question_id', 'signup_key', 'question_no'],
  marksRemoved: false,
  numberColumn: 'question_no',
  rowsOf: ({ channel_id = null, question_id = null, signup_key = null, answers }: Row) => {
    // `answersJson` wrote this text.
    const parsed: readonly Answer[] = JSON.parse(String(answers))
    return parsed.map((each, index) => {
      return { channel_id, question_id, signup_key, question_no: index + 1, ...each, extra: null }
    })
  },
}

/** Signups, one row each; they have no id at the service. API 4.11, fields 2.9. */
export const signups = defineStream({
  name: 'signups',
  label: { en: 'Signups', zh: '报名' },
  section: '4.11',
  words: { en: 'Signups, one row an answered questionnaire (API 4.11)', zh: '报名，每份已填写的问卷一行（API 4.11）' },
  columns: {
    channel_id: channelColumn,
    question_id: questionColumn,
    signup_key: computedColumn(
      'text',
      'Identity of the signup: viewer and time, and its number among equal ones',
      '报名标识：观众与时间，以及在相同者中的序号',
    ),
    user_id: field.text('user_id', 'Viewer id (first column)', '观众 ID（第一列）'),
    nickname: field.text('nickname', 'Nickname (second column)', '昵称（第二列）'),
    phone: field.text('phone', 'Phone (third column)', '手机号（第三列）'),
    signed_up_at: required(
      field.time('signed_up_at', 'When the viewer signed up (last column)', '报名时间（最后一列）'),
    ),
    answers: {
      type: 'jsonb',
      words: {
        en: 'Array of {"question", "answer"} in the order of the columns between phone and signup time',
        zh: '{"question", "answer"} 数组，按手机号与报名时间之间各列的顺序',
      },
      source: { kind: 'field', field: 'answers', parse: answersJson, isRequired: false },
    },
    occurrence: computedColumn(
      'integer',
      '1, 2 … among the signups with equal user_id and signed_up_at',
      'user_id 与 signed_up_at 相同的报名的序号（1、2 …）',
    ),
  },
  key: ['channel_id', 'question_id', 'signup_key'],
  partitionedBy: 'channel/question',
  wire: {
    method: 'POST',
    path: '/v1/activities/{channel}/signupRecord',
    place: 'body',
    parts: { question_id: 'question' },
    window: { from: 'start_time', to: 'end_time' },
    ...byPageIndex,
    defaultSize: 10,
    envelope: { ...errcodeEnvelope, items: 'data', title: 'title' },
  },
  pageSize: 50,
  timeColumns: ['signed_up_at'],
  bornColumn: 'signed_up_at',
  lookbackDays: 1,
  marksRemoved: true,
  identity: {
    keyColumn: 'signup_key',
    occurrenceColumn: 'occurrence',
    of: ['user_id', 'signed_up_at'],
    timeColumn: 'signed_up_at',
  },
  children: signupAnswers,
  readItem: readSignup,
})

/** Reads an array of cells in the order of the headers: three fixed cells, the questions, and the signup time. */
function readSignup(item: unknown, title: readonly unknown[] = []): ItemFields | Rejection {
  if (!Array.isArray(item)) return rejection('', `the row is ${kindOf(item)}, not an array of cells`)
  const cells: readonly unknown[] = item
  if (cells.length !== title.length || cells.length < LEADING_CELLS + TRAILING_CELLS) {
    return rejection('', `the row has ${cells.length} cells under ${title.length} headers`)
  }
  const [user_id, nickname, phone] = cells
  const questions = title.slice(LEADING_CELLS, -TRAILING_CELLS)
  const answers = questions.map((question, index) => ({ question, answer: cells[LEADING_CELLS + index] }))
  return { kind: 'fields', fields: { user_id, nickname, phone, answers, signed_up_at: cells.at(-1) } }
}

/** Headers and cells are free text of operators and viewers. Other values are kept as JSON text. */
function answersJson(raw: unknown): ReturnType<FieldParser<ColumnTypes['jsonb']>> {
  const pairs: readonly { readonly question: unknown; readonly answer: unknown }[] = Array.isArray(raw) ? raw : []
  return exactJson(pairs.map(({ question, answer }) => ({ question: cellText(question), answer: cellText(answer) })))
}

function cellText(cell: unknown): string | null {
  const read = text(cell)
  return read === undefined ? exactJson(cell) : read
}

import { refusals, refuse } from './answer.ts'
import type { ChannelList } from './endpoint.ts'
import { selectRows } from './select-rows.ts'
import { listField, servePage, totalField } from './serve-page.ts'
import type { Switches } from './switches.ts'
import { wireSecond } from './wire.ts'
import type { Questionnaire, Signup, World } from './world/world.ts'
import { createInstantReader } from './zone.ts'

const created = { name: 'created', of: (row: Questionnaire) => row.createdAt }
const signedUp = { name: 'signedUp', of: (row: Signup) => row.signedUpAt }

/** API 4.10. */
export const getQuestionList: ChannelList = {
  scope: 'channel',
  family: 'errcode',
  defaultPageSize: 20,
  maxPageSize: 100,
  pageParam: 'page_index',
  sizeParam: 'page_size',
  readFilters: () => ({}),
  serve: (query, { world, switches }, channel) =>
    servePage(query, {
      family: 'errcode',
      selection: selectRows(channel.questionnaires, {
        time: created,
        ends: switches.filterEnds,
        order: switches.questionnaireOrder,
        identityOf: (row) => row.questionId,
      }),
      switches,
      toWire: (row) => toQuestion(row, world, switches),
      envelope: (items, total, { page, pageSize }) => ({
        errcode: 1000,
        msg: 'OK',
        page_index: page,
        ...listField('question_list', items, switches),
        size: pageSize,
        total: totalField(total, switches),
      }),
      cacheKey: `getQuestionList|${channel.id}|${channel.questionnaires.version}`,
    }),
}

/** API 4.11. */
export const signupRecord: ChannelList = {
  scope: 'channel',
  family: 'errcode',
  defaultPageSize: 10,
  maxPageSize: 50,
  pageParam: 'page_index',
  sizeParam: 'page_size',
  readFilters: (reader) => ({
    questionId: reader.requiredText('question_id'),
    from: reader.time('start_time'),
    to: reader.time('end_time'),
  }),
  serve: (query, { switches }, channel) => {
    const form = channel.questionnaires.rows.find((row) => row.questionId === query.questionId)
    if (!form) return refuse('errcode', refusals.notFound('question'), switches.errcodeStatus)
    return servePage(query, {
      family: 'errcode',
      selection: selectRows(form.signups, {
        time: signedUp,
        from: query.from,
        to: query.to,
        ends: switches.filterEnds,
        order: switches.signupOrder,
        identityOf: (row) => `${row.signedUpAt}/${row.userId}`,
      }),
      switches,
      toWire: toCells,
      envelope: (items, total, { page, pageSize }) => ({
        ...listField('data', items, switches),
        ...(items.length > 0 ? { title: titleOf(form) } : listField('title', emptyTitle(form, switches), switches)),
        errcode: 1000,
        msg: 'OK',
        page_index: page,
        size: pageSize,
        total: totalField(total, switches),
      }),
      cacheKey: `signupRecord|${channel.id}|${channel.questionnaires.version}|${form.signups.version}`,
    })
  },
}

function toQuestion(row: Questionnaire, world: World, { questionnaireStatus }: Readonly<Switches>): object {
  return {
    question_id: row.questionId,
    name: row.name,
    position: row.position,
    status: questionnaireStatus === 'boolean' ? row.isOpen : Number(row.isOpen),
    created_at: withOffset(row.createdAt, world.timeZone),
  }
}

/** RFC 3339 with the zone's offset: `2026-11-20T14:03:00+08:00`. */
function withOffset(wallTime: number, timeZone: string): string {
  const minutes = (wallTime - createInstantReader(timeZone)(wallTime)) / 60
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return `${wireSecond(wallTime).replace(' ', 'T')}${offset}`
}

function titleOf(form: Questionnaire): readonly string[] {
  return ['用户ID', '昵称', '手机号', ...form.questions, '报名时间']
}

/** Without rows the headers are there only where empty lists are arrays. */
function emptyTitle(form: Questionnaire, { emptyLists }: Readonly<Switches>): readonly string[] {
  return emptyLists === 'array' ? titleOf(form) : []
}

function toCells(row: Signup): readonly string[] {
  return [row.userId, row.nick, row.phone, ...row.answers, wireSecond(row.signedUpAt)]
}

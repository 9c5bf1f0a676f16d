import { formatWallTime } from '../core/wall-clock.ts'
import { refusals } from './answer.ts'
import type { Envelope, ListEndpoint, QueryResult, Service } from './endpoint.ts'
import { accountEnvelope, bareEnvelope, errcodeEnvelope, listField, resultsEnvelope } from './envelopes.ts'
import * as fields from './fields.ts'
import { listDefaults, serveRows } from './list-page.ts'
import type { ListQuery, ParamReader } from './params.ts'
import type { Switches } from './switches.ts'
import { wireInteger, wireOffset } from './wire.ts'
import { hashText } from './world/random.ts'
import type { RowList } from './world/row-list.ts'
import type { Channel, Manager, Visitor, WatchRecord } from './world/world.ts'

const errcodeDefaults = { family: 'errcode', version: 'v1', pageParam: 'page_index', sizeParam: 'page_size' } as const

function managerList(rowFields: readonly fields.Field<keyof Manager>[], envelope: Envelope) {
  const serve: ListEndpoint['serve'] = (query, { world, switches }) =>
    serveRows(world.managers, query, switches, {
      keep: (row) => !query.filters?.username || row.username === query.filters.username,
      identity: (row) => row.id,
      toWire: (row) => fields.wireRow(rowFields, row),
      envelope,
    })
  return { ...listDefaults, method: 'GET', version: 'v1', scope: 'account', serve } as const
}

type ServeChannel = (query: ListQuery, service: Service, channel: Channel) => QueryResult | undefined

/** Properties that the lists of a channel share; some override a few of them. */
function channelList(serve: ServeChannel) {
  const channelServe: ListEndpoint['serve'] = (query, service, channel) => channel && serve(query, service, channel)
  return { ...listDefaults, method: 'POST', scope: 'channel', serve: channelServe } as const
}

function recordList(
  version: 'v1' | 'v2',
  listOf: (channel: Channel) => RowList<WatchRecord>,
  rowFields: readonly fields.Field<keyof WatchRecord>[],
  envelope: Envelope,
) {
  const readFilters = (reader: ParamReader): Partial<ListQuery> => ({
    from: reader.time('start_time'),
    to: reader.time('end_time'),
    isFiltered: reader.flag('filter_watch_time', version === 'v1'),
  })
  const serve: ServeChannel = (query, { switches }, channel) =>
    serveRows(listOf(channel), query, switches, {
      time: switches.recordFilterTime === 'entry' ? (row) => row.enteredAt : (row) => row.leftAt,
      keep: (row) =>
        (query.isFiltered !== true || row.watchSeconds > 0) &&
        (switches.recordFilterTime !== 'both' || row.enteredAt >= (query.from ?? row.enteredAt)),
      rank: (row) => row.enteredAt,
      identity: (row) => row.recordId,
      toWire: (row) => fields.wireRow(rowFields, row),
      envelope,
    })
  return { ...channelList(serve), version, readFilters }
}

const visitorRanks: Readonly<Record<Switches['visitorOrder'], (row: Visitor) => number | string>> = {
  'last-online': (row) => row.lastOnlineAt,
  'first-login': (row) => row.firstLoginAt,
  'watch-time': (row) => row.watchSeconds,
  'user-id': (row) => row.userId,
  shuffled: (row) => hashText(row.userId),
}

const serveVisitors: ServeChannel = (query, { switches }, { id, name, adminId, visitors }) =>
  serveRows(visitors, query, switches, {
    keep: (row) => query.isFiltered !== true || row.watchSeconds >= 60,
    rank: visitorRanks[switches.visitorOrder],
    order: query.filters?.direction === 'asc' ? 'time-asc' : 'time-desc',
    identity: (row) => row.userId,
    toWire: (row) => ({
      id: wireInteger(id),
      uin: wireInteger(adminId),
      name,
      ...fields.wireRow(fields.visitorFields, row),
      ad_watch_time: 0,
    }),
    envelope: resultsEnvelope,
  })

const serveQuestionnaires: ServeChannel = (query, { world, switches }, { questionnaires }) =>
  serveRows(questionnaires, query, switches, {
    rank: (row) => row.createdAt,
    identity: (row) => row.questionId,
    toWire: (row) => ({
      ...fields.wireRow(fields.questionnaireFields, row),
      status: switches.questionnaireStatus === 'boolean' ? row.isOpen : Number(row.isOpen),
      created_at: wireOffset(row.createdAt, world.timeZone),
    }),
    envelope: errcodeEnvelope('question_list'),
  })

const serveSignups: ServeChannel = (query, { switches }, { questionnaires }) => {
  const form = questionnaires.rows.find((row) => row.questionId === query.filters?.questionId)
  if (!form) return undefined
  const title = ['用户ID', '昵称', '手机号', ...form.questions, '报名时间']
  // A list without rows has headers only if empty lists are sent as arrays.
  const emptyTitle = listField('title', switches.emptyLists === 'array' ? title : [], switches)
  return serveRows(form.signups, query, switches, {
    time: (row) => row.signedUpAt,
    identity: (row) => `${row.signedUpAt}/${row.userId}`,
    toWire: (row) => [row.userId, row.nick, row.phone, ...row.answers, formatWallTime(row.signedUpAt)],
    envelope: (items, ...rest) => ({
      ...(items.length > 0 ? { title } : emptyTitle),
      ...Object(errcodeEnvelope('data')(items, ...rest)),
    }),
  })
}

const serveGifts: ServeChannel = (query, { switches }, { gifts }) =>
  serveRows(gifts, query, switches, {
    time: (row) => row.givenAt,
    keep: (row) => row.type === query.filters?.type,
    identity: (row) => `${row.givenAt}/${row.visitorId}`,
    toWire: (row) => ({
      ...(fields.showsGiver(row, switches) && fields.wireRow(fields.giverFields, row)),
      ...fields.wireRow(fields.giftFields, row),
    }),
    envelope: bareEnvelope,
  })

/** API 4.5 to 4.12, by the last segment of the path. The dispatcher enforces the ten calls a day of 4.6. */
export const listEndpoints: Readonly<Record<string, ListEndpoint>> = {
  userRecordList: recordList('v2', ({ records }) => records, fields.recordFields, resultsEnvelope),
  userRecords: recordList('v1', ({ oldRecords }) => oldRecords, fields.oldRecordFields, bareEnvelope),
  visitorList: {
    ...channelList(serveVisitors),
    version: 'v2',
    readFilters: (reader) => ({
      isFiltered: reader.flag('filter', false),
      filters: { direction: reader.choice('direction', ['desc', 'asc']) },
    }),
  },
  managersUsage: {
    ...managerList(fields.usageFields, accountEnvelope(Number)),
    defaultPageSize: 1,
    maxPageSize: 10,
    readFilters: (reader) => ({ filters: { username: reader.text('username') } }),
  },
  managers: managerList(fields.managerFields, accountEnvelope(String)),
  getQuestionList: { ...channelList(serveQuestionnaires), ...errcodeDefaults, method: 'GET' },
  signupRecord: {
    ...channelList(serveSignups),
    ...errcodeDefaults,
    defaultPageSize: 10,
    maxPageSize: 50,
    readFilters: (reader) => ({
      filters: { questionId: reader.requiredText('question_id') },
      from: reader.time('start_time'),
      to: reader.time('end_time'),
    }),
  },
  giftRunning: {
    ...channelList(serveGifts),
    version: 'v1',
    readFilters: (reader) => {
      const type = reader.choice('type', ['cash', 'prop'])
      if (type === undefined) reader.refuse(refusals.missing('type'))
      return { filters: { type }, from: reader.time('startTime'), to: reader.time('endTime') }
    },
  },
}

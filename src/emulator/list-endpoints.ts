import { formatWallTime } from '../core/wall-clock.ts'
import { refusals } from './answer.ts'
import type { AccountList, ChannelList, EndpointName, Envelope, ListQuery, Source } from './endpoint.ts'
import type { ParamReader } from './params.ts'
import { accountEnvelope, bareEnvelope, listField, resultsEnvelope, totalField } from './list-page.ts'
import { ascending, descending, selectRows, type Selection, wired } from './select-rows.ts'
import type { Switches } from './switches.ts'
import * as fields from './fields.ts'
import { wireInteger, wireOffset } from './wire.ts'
import { hashText } from './world/random.ts'
import type { RowList } from './world/row-list.ts'
import type { Channel, Gift, Manager, Questionnaire, Signup, Visitor, WatchRecord } from './world/world.ts'

const byPages = {
  family: 'errors',
  defaultPageSize: 20,
  maxPageSize: 100,
  pageParam: 'p',
  sizeParam: 'perPage',
} as const
const ofAccount = { ...byPages, method: 'GET', scope: 'account' } as const
const byIndex = { family: 'errcode', pageParam: 'page_index', sizeParam: 'page_size' } as const

const entry = { name: 'entry', of: (row: WatchRecord) => row.enteredAt }
const leave = { name: 'leave', of: (row: WatchRecord) => row.leftAt }
const watched = { name: 'watched', accepts: (row: WatchRecord) => row.watchSeconds > 0 }

function recordList(
  version: 'v1' | 'v2',
  isFilteredByDefault: boolean,
  rowsOf: (channel: Channel) => RowList<WatchRecord>,
  shown: readonly fields.Field<WatchRecord>[],
  envelope: Envelope,
): ChannelList {
  const readFilters = (reader: ParamReader): Partial<ListQuery> => ({
    from: reader.time('start_time'),
    to: reader.time('end_time'),
    isFiltered: reader.flag('filter_watch_time', isFilteredByDefault),
  })
  const serve: ChannelList['serve'] = (query, source, channel) => {
    const rows = selectRows(rowsOf(channel), {
      ...query,
      time: entry,
      filterTime: source.switches.recordFilterTime === 'entry' ? entry : leave,
      keep: query.isFiltered ? watched : undefined,
      ends: source.switches.filterEnds,
      order: source.switches.recordOrder,
      identityOf: (row) => row.recordId,
    })
    const versions = `${channel.records.version}|${channel.oldRecords.version}`
    const cacheKey = `records ${version}|${channel.id}|${versions}`
    return { rows: wired(rows, (row) => fields.wireRow(shown, row)), envelope, cacheKey }
  }
  return { ...byPages, version, scope: 'channel', readFilters, serve }
}

/** API 4.5. */
const userRecordList = recordList('v2', false, ({ records }) => records, fields.recordFields, resultsEnvelope)

/** API 4.6; its budget of ten calls a day is kept by the dispatcher. */
const userRecords = recordList('v1', true, ({ oldRecords }) => oldRecords, fields.oldRecordFields, bareEnvelope)

const visitorOrders: Readonly<Record<Switches['visitorOrder'], (a: Visitor, b: Visitor) => number>> = {
  'last-online': (a, b) => a.lastOnlineAt - b.lastOnlineAt,
  'first-login': (a, b) => a.firstLoginAt - b.firstLoginAt,
  'watch-time': (a, b) => a.watchSeconds - b.watchSeconds,
  'user-id': (a, b) => (a.userId < b.userId ? -1 : a.userId > b.userId ? 1 : 0),
  shuffled: (a, b) => hashText(a.userId) - hashText(b.userId),
}

/** API 4.7. */
const visitorList: ChannelList = {
  ...byPages,
  version: 'v2',
  scope: 'channel',
  readFilters: (reader) => ({
    isFiltered: reader.flag('filter', false),
    direction: reader.choice('direction', ['desc', 'asc']) ?? 'desc',
  }),
  serve: (query, { switches: { visitorOrder: order } }, channel) => {
    const { id, name, adminId, visitors } = channel
    const rows = query.isFiltered
      ? visitors.sorted(`${order}/minute`, visitorOrders[order], (row) => row.watchSeconds >= 60)
      : visitors.sorted(order, visitorOrders[order])
    const selection = (query.direction === 'asc' ? ascending : descending)(rows, 0, rows.length)
    return {
      rows: wired(selection, (row) => ({
        id: wireInteger(id),
        uin: wireInteger(adminId),
        name,
        ...fields.wireRow(fields.visitorFields, row),
        ad_watch_time: 0,
      })),
      envelope: resultsEnvelope,
      cacheKey: `visitorList|${id}|${visitors.version}|${name}|${adminId}`,
    }
  },
}

function selectManagers({ username }: ListQuery, { world, switches }: Source): Selection<Manager> {
  return selectRows(world.managers, {
    time: { name: 'none', of: () => 0 },
    keep: username ? { name: `username=${username}`, accepts: (row) => row.username === username } : undefined,
    ends: switches.filterEnds,
    order: switches.managerOrder,
    identityOf: (row) => row.id,
  })
}

/** API 4.8: the default page holds one manager. */
const managersUsage: AccountList = {
  ...ofAccount,
  defaultPageSize: 1,
  maxPageSize: 10,
  readFilters: (reader) => ({ username: reader.text('username') }),
  serve: (query, source) => ({
    rows: wired(selectManagers(query, source), (row) => fields.wireRow(fields.usageFields, row)),
    envelope: accountEnvelope(Number),
    cacheKey: `managersUsage|${source.world.managers.version}`,
  }),
}

/** API 4.9. */
const managers: AccountList = {
  ...ofAccount,
  readFilters: () => ({}),
  serve: (query, source) => ({
    rows: wired(selectManagers(query, source), (row) => fields.wireRow(fields.managerFields, row)),
    envelope: accountEnvelope(String),
    cacheKey: `managers|${source.world.managers.version}`,
  }),
}

/** API 4.10. */
const getQuestionList: ChannelList = {
  ...byIndex,
  method: 'GET',
  scope: 'channel',
  defaultPageSize: 20,
  maxPageSize: 100,
  readFilters: () => ({}),
  serve: (_query, { world, switches }, { id, questionnaires }) => {
    const rows = selectRows(questionnaires, {
      time: { name: 'created', of: (row: Questionnaire) => row.createdAt },
      ends: switches.filterEnds,
      order: switches.questionnaireOrder,
      identityOf: (row) => row.questionId,
    })
    return {
      rows: wired(rows, (row) => ({
        ...fields.wireRow(fields.questionnaireFields, row),
        status: switches.questionnaireStatus === 'boolean' ? row.isOpen : Number(row.isOpen),
        created_at: wireOffset(row.createdAt, world.timeZone),
      })),
      envelope: (items, total, { page, pageSize }) => ({
        errcode: 1000,
        msg: 'OK',
        page_index: page,
        ...listField('question_list', items, switches),
        size: pageSize,
        total: totalField(total, switches),
      }),
      cacheKey: `getQuestionList|${id}|${questionnaires.version}`,
    }
  },
}

/** API 4.11. */
const signupRecord: ChannelList = {
  ...byIndex,
  scope: 'channel',
  defaultPageSize: 10,
  maxPageSize: 50,
  readFilters: (reader) => ({
    questionId: reader.requiredText('question_id'),
    from: reader.time('start_time'),
    to: reader.time('end_time'),
  }),
  serve: (query, { switches }, { id, questionnaires }) => {
    const form = questionnaires.rows.find((row) => row.questionId === query.questionId)
    if (!form) return undefined
    const rows = selectRows(form.signups, {
      ...query,
      time: { name: 'signedUp', of: (row: Signup) => row.signedUpAt },
      ends: switches.filterEnds,
      order: switches.signupOrder,
      identityOf: (row) => `${row.signedUpAt}/${row.userId}`,
    })
    const title = ['用户ID', '昵称', '手机号', ...form.questions, '报名时间']
    // Without rows the headers are there only where empty lists are arrays.
    const emptyTitle = listField('title', switches.emptyLists === 'array' ? title : [], switches)
    return {
      rows: wired(rows, (row) => [row.userId, row.nick, row.phone, ...row.answers, formatWallTime(row.signedUpAt)]),
      envelope: (items, total, { page, pageSize }) => ({
        ...listField('data', items, switches),
        ...(items.length > 0 ? { title } : emptyTitle),
        errcode: 1000,
        msg: 'OK',
        page_index: page,
        size: pageSize,
        total: totalField(total, switches),
      }),
      cacheKey: `signupRecord|${id}|${questionnaires.version}|${form.signups.version}`,
    }
  },
}

/** API 4.12. */
const giftRunning: ChannelList = {
  ...byPages,
  scope: 'channel',
  readFilters: (reader) => {
    const giftType = reader.choice('type', ['cash', 'prop'])
    if (giftType === undefined) reader.refuse(refusals.missing('type'))
    return { giftType, from: reader.time('startTime'), to: reader.time('endTime') }
  },
  serve: (query, { switches }, { id, gifts }) => {
    const rows = selectRows(gifts, {
      ...query,
      time: { name: 'given', of: (row: Gift) => row.givenAt },
      keep: { name: `type=${query.giftType}`, accepts: (row) => row.type === query.giftType },
      ends: switches.filterEnds,
      order: switches.giftOrder,
      identityOf: (row) => `${row.givenAt}/${row.visitorId}`,
    })
    return {
      rows: wired(rows, (row) => ({
        ...(fields.showsGiver(row, switches) && fields.wireRow(fields.giverFields, row)),
        ...fields.wireRow(fields.giftFields, row),
      })),
      envelope: bareEnvelope,
      cacheKey: `giftRunning|${id}|${gifts.version}`,
    }
  },
}

/** API 4.5 to 4.12. */
export const listEndpoints: Readonly<Record<EndpointName, ChannelList | AccountList>> = {
  userRecordList,
  userRecords,
  visitorList,
  managersUsage,
  managers,
  getQuestionList,
  signupRecord,
  giftRunning,
}

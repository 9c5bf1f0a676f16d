import type { ChannelList, ListQuery, Source } from './endpoint.ts'
import type { ParamReader } from './params.ts'
import { selectRows, type Selection } from './select-rows.ts'
import { resultsEnvelope, servePage } from './serve-page.ts'
import { wireDuration, wireInteger, wireMinute } from './wire.ts'
import { createRowList, type RowList } from './world/row-list.ts'
import type { Channel, WatchRecord } from './world/world.ts'

const paging = { defaultPageSize: 20, maxPageSize: 100, pageParam: 'p', sizeParam: 'perPage' } as const
const entry = { name: 'entry', of: (row: WatchRecord) => row.enteredAt }
const leave = { name: 'leave', of: (row: WatchRecord) => row.leftAt }
const watched = { name: 'watched', accepts: (row: WatchRecord) => row.watchSeconds > 0 }

/** API 4.5. */
export const userRecordList: ChannelList = {
  ...paging,
  scope: 'channel',
  family: 'errors',
  readFilters: (reader) => readFilters(reader, false),
  serve: (query, source, channel) =>
    servePage(query, {
      family: 'errors',
      selection: selectRecords(channel.records, query, source),
      switches: source.switches,
      toWire: toWireV2,
      envelope: resultsEnvelope(source.switches),
      cacheKey: `userRecordList|${channel.id}|${channel.records.version}`,
    }),
}

/** API 4.6; its budget of ten calls a day is kept by the dispatcher. */
export const userRecords: ChannelList = {
  ...paging,
  scope: 'channel',
  family: 'errors',
  readFilters: (reader) => readFilters(reader, true),
  serve: (query, source, channel) =>
    servePage(query, {
      family: 'errors',
      selection: selectRecords(v1Records(channel, source), query, source),
      switches: source.switches,
      toWire: toWireV1,
      envelope: (items) => items,
      cacheKey: `userRecords|${channel.id}|${channel.records.version}|${channel.oldRecords.version}`,
    }),
}

function readFilters(reader: ParamReader, isFilteredByDefault: boolean): Partial<ListQuery> {
  return {
    from: reader.time('start_time'),
    to: reader.time('end_time'),
    isFiltered: reader.flag('filter_watch_time', isFilteredByDefault),
  }
}

function selectRecords(list: RowList<WatchRecord>, query: ListQuery, { switches }: Source): Selection<WatchRecord> {
  return selectRows(list, {
    time: entry,
    filterTime: switches.recordFilterTime === 'entry' ? entry : leave,
    keep: query.isFiltered ? watched : undefined,
    from: query.from,
    to: query.to,
    ends: switches.filterEnds,
    order: switches.recordOrder,
    identityOf: (row) => row.recordId,
  })
}

function v1Records({ oldRecords, records }: Channel, { switches }: Source): RowList<WatchRecord> {
  return switches.v1Serves === 'old' ? oldRecords : createRowList([...oldRecords.rows, ...records.rows])
}

function toWireV2(row: WatchRecord): object {
  return {
    record_id: wireInteger(row.recordId),
    assign_id: row.assignId,
    user_id: row.userId,
    outer_id: row.outerId,
    nick: row.nick,
    addr: row.addr,
    online_time: wireDuration(row.onlineSeconds),
    watch_time: wireDuration(row.watchSeconds),
    live_time: wireDuration(row.liveSeconds),
    vod_time: wireDuration(row.vodSeconds),
    phone: row.phone,
    first_login_time: wireMinute(row.enteredAt),
    last_online_time: wireMinute(row.leftAt),
    device: row.device,
    browser: row.browser,
    origin: row.origin,
  }
}

function toWireV1(row: WatchRecord): object {
  return {
    record_id: wireInteger(row.recordId),
    user_id: row.userId,
    nick: row.nick,
    addr: row.addr,
    online_time: wireDuration(row.onlineSeconds),
    watch_time: wireDuration(row.watchSeconds),
    phone: row.phone,
    first_login_time: wireMinute(row.enteredAt),
    last_online_time: wireMinute(row.leftAt),
    device: row.device,
    browser: row.browser,
    origin: row.origin,
  }
}

import type { ChannelList, ListQuery, Source } from './endpoint.ts'
import { ascending, descending, type Selection } from './select-rows.ts'
import { resultsEnvelope, servePage } from './serve-page.ts'
import type { Switches } from './switches.ts'
import { wireDuration, wireInteger, wireSecond } from './wire.ts'
import { hashText } from './world/random.ts'
import type { Channel, Visitor } from './world/world.ts'

/** API 4.7. */
export const visitorList: ChannelList = {
  scope: 'channel',
  family: 'errors',
  defaultPageSize: 20,
  maxPageSize: 100,
  pageParam: 'p',
  sizeParam: 'perPage',
  readFilters: (reader) => ({
    isFiltered: reader.flag('filter', false),
    direction: reader.choice('direction', ['desc', 'asc']) ?? 'desc',
  }),
  serve: (query, source, channel) =>
    servePage(query, {
      family: 'errors',
      selection: selectVisitors(channel, query, source),
      switches: source.switches,
      toWire: (row) => toWire(row, channel),
      envelope: resultsEnvelope(source.switches),
      cacheKey: `visitorList|${channel.id}|${channel.visitors.version}|${channel.name}|${channel.adminId}`,
    }),
}

function selectVisitors({ visitors }: Channel, query: ListQuery, { switches }: Source): Selection<Visitor> {
  const order = switches.visitorOrder
  const rows = query.isFiltered
    ? visitors.sorted(`${order}/minute`, comparisons[order], (row) => row.watchSeconds >= 60)
    : visitors.sorted(order, comparisons[order])
  return query.direction === 'asc' ? ascending(rows, 0, rows.length) : descending(rows, 0, rows.length)
}

const comparisons: Readonly<Record<Switches['visitorOrder'], (a: Visitor, b: Visitor) => number>> = {
  'last-online': (a, b) => a.lastOnlineAt - b.lastOnlineAt,
  'first-login': (a, b) => a.firstLoginAt - b.firstLoginAt,
  'watch-time': (a, b) => a.watchSeconds - b.watchSeconds,
  'user-id': (a, b) => (a.userId < b.userId ? -1 : a.userId > b.userId ? 1 : 0),
  shuffled: (a, b) => hashText(a.userId) - hashText(b.userId),
}

function toWire(row: Visitor, channel: Channel): object {
  return {
    id: wireInteger(channel.id),
    uin: wireInteger(channel.adminId),
    name: channel.name,
    addr: row.addr,
    user_id: row.userId,
    assign_id: row.assignId,
    outer_id: row.outerId,
    nick: row.nick,
    watch_time: wireDuration(row.watchSeconds),
    live_time: wireDuration(row.liveSeconds),
    vod_time: wireDuration(row.vodSeconds),
    phone: row.phone,
    refer: row.refer,
    visit_times: row.visitTimes,
    first_login_time: wireSecond(row.firstLoginAt),
    last_online_time: wireSecond(row.lastOnlineAt),
    device: row.device,
    browser: row.browser,
    last_ip: row.lastIp,
    share_times: row.shareTimes,
    comment_count: row.commentCount,
    wx_openid: row.wxOpenid,
    live_watch_time: row.liveSeconds,
    vod_watch_time: row.vodSeconds,
    ad_watch_time: 0,
    online_time: row.onlineSeconds,
  }
}

import { defineStream } from '../core/stream.ts'
import { isObject } from '../core/text.ts'
import { bigint, quote, rejection, text } from '../transform/read-item.ts'
import { channelColumn, field, required, viewerColumns } from './columns.ts'
import { byPerPage, resultsEnvelope } from './wire.ts'

/** Viewers, one row per channel and viewer with totals that keep changing. API 4.7, fields 2.5. */
export const visitors = defineStream({
  name: 'visitors',
  label: { en: 'Visitors', zh: '访客' },
  section: '4.7',
  words: {
    en: 'Viewers of a channel, one row each, with totals over all their visits (API 4.7)',
    zh: '频道的观众，每行一位，为其全部访问的合计（API 4.7）',
  },
  columns: {
    channel_id: channelColumn,
    user_id: required(field.id('user_id', 'Viewer id', '观众 ID')),
    ...viewerColumns,
    access_source: field.text('refer', 'Where the viewer came from', '访问来源'),
    device: field.text(
      'device',
      'Device of the last visit, display text of the service',
      '最近一次访问的设备，服务端显示文本',
    ),
    browser: field.text(
      'browser',
      'Browser of the last visit, display text of the service',
      '最近一次访问的浏览器，服务端显示文本',
    ),
    wx_openid: field.text('wx_openid', 'Open id of a social-network account', '社交网络账号的 openid'),
    last_ip: field.ip('last_ip', 'IP address of the last login', '最近一次登录的 IP 地址'),
    visit_count: field.integer('visit_times', 'Number of visits', '访问次数'),
    share_count: field.integer('share_times', 'Number of shares', '分享次数'),
    comment_count: field.integer('comment_count', 'Number of chat messages', '聊天消息数'),
    watch_seconds: field.duration('watch_time', 'Total watch duration in seconds', '观看总时长（秒）'),
    live_seconds: field.duration('live_time', 'Live watch duration in seconds', '直播观看时长（秒）'),
    vod_seconds: field.duration('vod_time', 'On-demand watch duration in seconds', '点播观看时长（秒）'),
    live_watch_seconds: field.seconds(
      'live_watch_time',
      'Live watch duration in seconds, as the service counts seconds',
      '直播观看时长（秒），服务端以秒计',
    ),
    vod_watch_seconds: field.seconds(
      'vod_watch_time',
      'On-demand watch duration in seconds, as the service counts seconds',
      '点播观看时长（秒），服务端以秒计',
    ),
    online_seconds: field.seconds('online_time', 'Online duration in seconds', '在线时长（秒）'),
    first_login_at: field.time('first_login_time', 'First entry', '首次进入时间'),
    last_online_at: field.time('last_online_time', 'Last time online', '最近在线时间'),
  },
  key: ['channel_id', 'user_id'],
  partitionedBy: 'channel',
  wire: {
    method: 'POST',
    path: '/v2/activities/{channel}/visitorList',
    place: 'body',
    constants: { filter: '0', direction: 'desc' },
    reversed: { direction: 'asc' },
    ...byPerPage,
    envelope: resultsEnvelope,
  },
  pageSize: 100,
  bornColumn: 'first_login_at',
  marksRemoved: true,
  freshnessColumn: 'last_online_at',
  // id, uin and name describe the channel and are on every row; ad_watch_time is reserved.
  otherFields: ['id', 'uin', 'name', 'ad_watch_time'],
  checkItem: ({ id }, { channel = '' }) => {
    const named = text(id)
    return named !== channel && named !== null && /^\d+$/.test(channel)
      ? rejection('id', `id is ${quote(id)}, and the visitors of channel ${channel} were asked for`)
      : undefined
  },
  channelFacts: (item) =>
    isObject(item) ? { name: text(item.name) ?? null, adminId: bigint(item.uin) ?? null } : undefined,
})

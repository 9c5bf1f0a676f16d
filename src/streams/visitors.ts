import { unreadable } from '../core/column.ts'
import { defineStream } from '../core/stream.ts'
import { isObject, rejection, shown } from '../transform/field.ts'
import { bigint } from '../transform/integer.ts'
import { text } from '../transform/text.ts'
import {
  durationField,
  idField,
  integerField,
  ipField,
  partitionColumn,
  required,
  secondsField,
  textField,
  timeField,
} from './columns.ts'
import { byPerPage, resultsEnvelope } from './wire.ts'

/** One row a channel and viewer, an aggregate that keeps changing. API 4.7, fields 2.5. */
export const visitors = defineStream({
  name: 'visitors',
  label: { en: 'Visitors', zh: '访客' },
  table: 'visitors',
  section: '4.7',
  comment: 'Viewers of a channel, one row each, with totals over all their visits (API 4.7)',
  columns: {
    channel_id: partitionColumn('channel', 'Channel id'),
    user_id: required(idField('user_id', 'Viewer id')),
    assign_id: textField('assign_id', 'Third-party id that the company assigned to the viewer'),
    outer_id: textField('outer_id', 'External account id of the viewer'),
    nickname: textField('nick', 'Nickname; not unique, made up from the region for anonymous viewers'),
    address: textField('addr', 'Address, province and city without a separator'),
    phone: textField('phone', 'Mobile phone number as the service has it'),
    access_source: textField('refer', 'Where the viewer came from'),
    device: textField('device', 'Device of the last visit, display text of the service'),
    browser: textField('browser', 'Browser of the last visit, display text of the service'),
    wx_openid: textField('wx_openid', 'Open id of a social-network account'),
    last_ip: ipField('last_ip', 'IP address of the last login'),
    visit_count: integerField('visit_times', 'Number of visits'),
    share_count: integerField('share_times', 'Number of shares'),
    comment_count: integerField('comment_count', 'Number of chat messages'),
    watch_seconds: durationField('watch_time', 'Total watch duration in seconds'),
    live_seconds: durationField('live_time', 'Live watch duration in seconds'),
    vod_seconds: durationField('vod_time', 'On-demand watch duration in seconds'),
    live_watch_seconds: secondsField(
      'live_watch_time',
      'Live watch duration in seconds, as the service counts seconds',
    ),
    vod_watch_seconds: secondsField(
      'vod_watch_time',
      'On-demand watch duration in seconds, as the service counts seconds',
    ),
    online_seconds: secondsField('online_time', 'Online duration in seconds'),
    first_login_at: timeField('first_login_time', 'First entry'),
    last_online_at: timeField('last_online_time', 'Last time online'),
  },
  key: ['channel_id', 'user_id'],
  partitionedBy: 'channel',
  wire: {
    method: 'POST',
    path: '/v2/activities/{channel}/visitorList',
    place: 'body',
    constants: { filter: '0', direction: 'desc' },
    ...byPerPage,
    envelope: resultsEnvelope,
  },
  pageSize: 100,
  timeColumns: [],
  lookbackDays: 0,
  marksRemoved: true,
  freshnessColumn: 'last_online_at',
  // id, uin and name describe the channel, on every row; ad_watch_time is reserved.
  otherFields: ['id', 'uin', 'name', 'ad_watch_time'],
  checkItem: ({ id }, { channel = '' }) => {
    const named = text(id)
    const isOther = named !== channel && named !== null && /^\d+$/.test(channel)
    return isOther
      ? rejection('id', `id is ${shown(id)}, and the visitors of channel ${channel} were asked for`)
      : undefined
  },
  channelFacts: (item) =>
    isObject(item) ? { name: readable(text(item.name)), adminId: readable(bigint(item.uin)) } : undefined,
})

function readable(value: string | null | typeof unreadable): string | null {
  return value === unreadable ? null : value
}

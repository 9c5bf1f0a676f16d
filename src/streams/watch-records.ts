import { defineStream } from '../core/stream.ts'
import { channelColumn, field, required, viewerColumns } from './columns.ts'
import { byPerPage, resultsEnvelope } from './wire.ts'

/** Visits, one row each, which keeps changing while the viewer is online. API 4.5, fields 2.4. */
export const watchRecords = defineStream({
  name: 'watch_records',
  label: { en: 'Watch records', zh: '观看记录' },
  section: '4.5',
  words: {
    en: 'Watch records, one row a visit of a viewer to a channel (API 4.5, and 4.6 where only that has the record)',
    zh: '观看记录，观众对频道的每次访问一行（API 4.5；仅 4.6 有的记录取自 4.6）',
  },
  columns: {
    channel_id: channelColumn,
    record_id: required(field.bigint('record_id', 'Watch record id', '观看记录 ID')),
    user_id: field.id('user_id', 'Viewer id', '观众 ID'),
    ...viewerColumns,
    device: field.text('device', 'Watching device, display text of the service', '观看设备，服务端显示文本'),
    browser: field.text('browser', 'Watching method, display text of the service', '观看方式，服务端显示文本'),
    access_source: field.text('origin', 'Where the viewer came from', '访问来源'),
    online_seconds: field.duration('online_time', 'Online duration in seconds', '在线时长（秒）'),
    watch_seconds: field.duration('watch_time', 'Watch duration in seconds', '观看时长（秒）'),
    live_seconds: field.duration('live_time', 'Live watch duration in seconds', '直播观看时长（秒）'),
    vod_seconds: field.duration('vod_time', 'On-demand watch duration in seconds', '点播观看时长（秒）'),
    entered_at: field.time(
      'first_login_time',
      'Entry; the service may give it to the minute only',
      '进入时间；服务端可能只精确到分钟',
    ),
    left_at: field.time('last_online_time', 'Leave; moves while the viewer is online', '离开时间；观众在线期间会变动'),
    api_version: {
      type: 'smallint',
      words: {
        en: '2, or 1 where only version 1 of the interface delivered the record',
        zh: '2；仅由接口版本 1 提供的记录为 1',
      },
      source: { kind: 'constant', value: 2 },
    },
  },
  key: ['channel_id', 'record_id'],
  partitionedBy: 'channel',
  wire: {
    method: 'POST',
    path: '/v2/activities/{channel}/userRecordList',
    place: 'body',
    constants: { filter_watch_time: 0 },
    window: { from: 'start_time', to: 'end_time' },
    ...byPerPage,
    envelope: resultsEnvelope,
  },
  pageSize: 100,
  timeColumns: ['entered_at', 'left_at'],
  lookbackDays: 3,
  freshnessColumn: 'left_at',
  versions: {
    column: 'api_version',
    own: 2,
    other: { stream: 'watch_records_v1', version: 1 },
    sameIn: ['user_id', 'entered_at'],
  },
})

import { defineStream } from '../core/stream.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import {
  bigintField,
  constantColumn,
  durationField,
  partitionColumn,
  required,
  textField,
  timeField,
} from './columns.ts'

/** One row a visit. It keeps changing while the viewer is online. API 4.5, fields 2.4. */
export const watchRecords = defineStream({
  name: 'watch_records',
  table: 'watch_records',
  section: '4.5',
  comment: 'Watch records, one row a visit of a viewer to a channel (API 4.5, and 4.6 where only that has the record)',
  columns: {
    channel_id: partitionColumn('channel', 'Channel id'),
    record_id: required(bigintField('record_id', 'Watch record id')),
    user_id: textField('user_id', 'Viewer id'),
    assign_id: textField('assign_id', 'Third-party id that the company assigned to the viewer'),
    outer_id: textField('outer_id', 'External account id of the viewer'),
    nickname: textField('nick', 'Nickname; not unique, made up from the region for anonymous viewers'),
    address: textField('addr', 'Address, province and city without a separator'),
    phone: textField('phone', 'Mobile phone number as the service has it'),
    device: textField('device', 'Watching device, display text of the service'),
    browser: textField('browser', 'Watching method, display text of the service'),
    access_source: textField('origin', 'Where the viewer came from'),
    online_seconds: durationField('online_time', 'Online duration in seconds'),
    watch_seconds: durationField('watch_time', 'Watch duration in seconds'),
    live_seconds: durationField('live_time', 'Live watch duration in seconds'),
    vod_seconds: durationField('vod_time', 'On-demand watch duration in seconds'),
    entered_at: timeField('first_login_time', 'Entry; the service may give it to the minute only'),
    left_at: timeField('last_online_time', 'Leave; moves while the viewer is online'),
    api_version: constantColumn('smallint', 2, '2, or 1 where only version 1 of the interface delivered the record'),
  },
  key: ['channel_id', 'record_id'],
  partitionedBy: 'channel',
  pageSize: 100,
  isTimeFiltered: true,
  isCounted: true,
  timeColumns: ['entered_at', 'left_at'],
  marksRemoved: false,
  freshnessColumn: 'left_at',
  otherFields: [],
  request: ({ channel = '' }, window) => ({
    endpoint: 'userRecordList',
    channelId: channel,
    ...(window && { startTime: formatWallTime(window.from), endTime: formatWallTime(window.to) }),
    filterWatchTime: 0,
  }),
})

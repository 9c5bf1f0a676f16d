import { watchRecords } from '../../streams/watch-records.ts'
import { type BiView, bool, smallint } from '../view.ts'
import { joinPerson } from './fragments/identity.ts'
import { duration, event, moment, toLocal } from './fragments/local-time.ts'
import { linkColumn, personalColumn } from './fragments/masks.ts'
import { channelId, isTest, namedViewer, places } from './fragments/shared-columns.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const record = streamColumns(watchRecords, 'w')

export const fctWatch: BiView = {
  name: 'fct_watch',
  grain: { en: 'A watch record: one visit of a viewer to a channel', zh: '一条观看记录：观众对频道的一次访问' },
  remarks: {
    en: 'The day is that of entry. Records are never removed. Nickname, phone and address are as of the visit.',
    zh: '日期取进入当日。观看记录不会被删除。昵称、手机号、地址为该次访问时的值。',
  },
  key: ['channel_id', 'record_id'],
  columns: {
    ...channelId('w.channel_id'),
    record_id: record('record_id'),
    ...namedViewer('w'),
    ...event('entered', record('entered_at')),
    entered_hour: smallint(
      `extract(hour from ${toLocal('w.entered_at')})::smallint`,
      'Hour of entry, 0 to 23',
      '进入的小时（0–23）',
    ),
    ...moment('left', record('left_at')),
    ...duration('online', record('online_seconds')),
    ...duration('watch', record('watch_seconds')),
    ...duration('live', record('live_seconds')),
    ...duration('replay', record('vod_seconds')),
    is_watched: bool('w.watch_seconds > 0', 'Whether anything was watched', '是否有观看'),
    is_over_one_minute: bool('w.watch_seconds >= 60', 'Whether a minute or more was watched', '观看是否满一分钟'),
    is_live: bool('w.live_seconds > 0', 'Whether anything was watched live', '是否观看直播'),
    is_replay: bool('w.vod_seconds > 0', 'Whether anything was watched on demand', '是否观看点播'),
    device: record('device'),
    browser: record('browser'),
    access_source: linkColumn(record('access_source')),
    ...places('w.address'),
    nickname: personalColumn('nickname', record('nickname')),
    phone: personalColumn('phone', record('phone')),
    address: personalColumn('address', record('address')),
    api_version: record('api_version'),
    ...isTest('w.channel_id'),
  },
  from: `from livehouse.watch_records w
  ${joinPerson('w.channel_id', 'w.user_id')}`,
}

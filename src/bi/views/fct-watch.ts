import { duration, local, localDay, moment } from './fragments/local-time.ts'
import { personal } from './fragments/masks.ts'
import { city, province } from './fragments/places.ts'
import { channelId, namedViewer } from './fragments/shared-columns.ts'
import { bigint, type BiView, bool, date, instant, localTime, smallint, text } from '../view.ts'

export const fctWatch: BiView = {
  name: 'fct_watch',
  grain: { en: 'A watch record: one visit of a viewer to a channel', zh: '一条观看记录：观众对频道的一次访问' },
  remarks: {
    en: 'Its day is the day of entry. Records are never removed. Nickname, phone and address are those of the visit.',
    zh: '日期取进入当日。观看记录不会被删除。昵称、手机号、地址为该次访问时的值。',
  },
  key: ['channel_id', 'record_id'],
  columns: {
    ...channelId('w.channel_id'),
    record_id: bigint(
      'w.record_id',
      'Watch record id, unique within the channel',
      '观看记录 ID（频道内唯一）',
      '2.4 record_id',
    ),
    ...namedViewer('w'),
    day: date(localDay('w.entered_at'), 'Day of entry; joins dim_date', '进入日期，关联 dim_date'),
    entered_at: instant(
      'w.entered_at',
      'Entry, an instant; the service may give it to the minute only',
      '进入时刻（服务端可能只精确到分钟）',
      '2.4 first_login_time',
    ),
    entered_at_local: localTime(local('w.entered_at'), 'Entry, wall clock of the service', '进入时间（服务所在时区）'),
    entered_hour: smallint(
      `extract(hour from ${local('w.entered_at')})::smallint`,
      'Hour of entry, 0 to 23, wall clock of the service',
      '进入的小时（0–23）',
    ),
    ...moment(
      'left',
      'w.left_at',
      'Leave; moves while the viewer is online',
      '离开时间（在线时会变化）',
      '2.4 last_online_time',
    ),
    ...duration('online', 'w.online_seconds', 'Online', '在线时长', '2.4 online_time'),
    ...duration('watch', 'w.watch_seconds', 'Watched', '观看时长', '2.4 watch_time'),
    ...duration('live', 'w.live_seconds', 'Watched live', '直播观看时长', '2.4 live_time'),
    ...duration('replay', 'w.vod_seconds', 'Watched on demand', '点播观看时长', '2.4 vod_time'),
    is_watched: bool('w.watch_seconds > 0', 'Whether anything was watched', '是否有观看'),
    is_over_one_minute: bool('w.watch_seconds >= 60', 'Whether a minute or more was watched', '观看是否满一分钟'),
    is_live: bool('w.live_seconds > 0', 'Whether anything was watched live', '是否观看直播'),
    is_replay: bool('w.vod_seconds > 0', 'Whether anything was watched on demand', '是否观看点播'),
    device: text('w.device', 'Watching device', '观看设备', '2.4 device'),
    browser: text('w.browser', 'Watching method', '观看方式', '2.4 browser'),
    access_source: text('w.access_source', 'Where the viewer came from', '访问来源', '2.4 origin'),
    province: text(
      province('w.address'),
      'Province, split from the address; NULL where it has none',
      '从地址拆出的省份；拆不出为 NULL',
    ),
    city: text(
      city('w.address'),
      'City, split from the address; NULL where it cannot be told',
      '从地址拆出的城市；拆不出为 NULL',
    ),
    nickname: personal('nickname', 'w.nickname', 'Nickname', '昵称', '2.4 nick'),
    phone: personal('phone', 'w.phone', 'Mobile phone number', '手机号', '2.4 phone'),
    address: personal(
      'address',
      'w.address',
      'Address; masked to province and city',
      '地址；脱敏时只留省市',
      '2.4 addr',
    ),
    api_version: smallint(
      'w.api_version',
      '2, or 1 where only version 1 of the interface delivered the record',
      '接口版本：2；仅由第 1 版提供时为 1',
    ),
  },
  from: `from livehouse.watch_records w
  left join livehouse.visitors v on v.channel_id = w.channel_id and v.user_id = w.user_id`,
}

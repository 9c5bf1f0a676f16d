import { audienceSteps } from './fragments/audience.ts'
import { local } from './fragments/local-time.ts'
import { channelId } from './fragments/shared-columns.ts'
import { bigint, type BiView, date, instant, localTime } from '../view.ts'

export const fctAudienceMinute: BiView = {
  name: 'fct_audience_minute',
  grain: { en: 'A minute of a channel with somebody online', zh: '频道有人在线的一分钟' },
  remarks: {
    en:
      'An estimate from the watch records, as the service tells no audience: a record counts from the minute of entry for at most its ' +
      'online seconds, never past the minute of leaving, and as live only where it has live seconds. Two visits of one viewer at once ' +
      'count twice; a record without a time of leaving ends with its day. Minutes without anybody have no row.',
    zh: '服务端不提供在线人数，此为由观看记录估算：每条记录自进入的那一分钟起计，至多持续其在线秒数，且不超过离开的那一分钟；有直播秒数才计入直播。同一观众同时的两次访问计两次；没有离开时间的记录当日截止。无人在线的分钟没有行。',
  },
  key: ['channel_id', 'minute_at'],
  columns: {
    ...channelId('a.channel_id'),
    day: date('a.day', 'Day of the minute; joins dim_date', '该分钟的日期，关联 dim_date'),
    minute_at: instant('m.at', 'Beginning of the minute, an instant', '该分钟的开始时刻'),
    minute_at_local: localTime(
      local('m.at'),
      'Beginning of the minute, wall clock of the service',
      '该分钟的开始（服务所在时区）',
    ),
    estimated_live_viewers: bigint(
      'a.live_viewers::bigint',
      'Estimate of the viewers online who watch live',
      '估计的直播在线人数',
    ),
    estimated_all_viewers: bigint('a.viewers::bigint', 'Estimate of the viewers online', '估计的在线人数'),
  },
  from: `from ${audienceSteps} a
  cross join lateral generate_series(a.minute_at, a.next_at - interval '1 minute', interval '1 minute') m (at)
  where a.viewers > 0`,
}

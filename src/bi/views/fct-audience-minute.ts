import { type BiView, bigint, date } from '../view.ts'
import { audienceSteps } from './fragments/audience.ts'
import { minute } from './fragments/local-time.ts'
import { channelId, isTest } from './fragments/shared-columns.ts'

/** The epoch minute, also before 1970, where integer division would round up. */
const minuteNo = (second: string) => `floor(${second}::double precision / 60)::bigint`

export const fctAudienceMinute: BiView = {
  name: 'fct_audience_minute',
  grain: { en: 'A minute in which somebody was online in a channel', zh: '频道有人在线的一分钟' },
  remarks: {
    en:
      'An estimate from the watch records, as the service reports no audience: the most simultaneous visits within ' +
      'the minute, second by second. A record counts from entry for its online seconds, but not past the time of ' +
      'leaving (if times have no seconds, to the end of that minute; if it was left in its second of entry, for ' +
      'that second, however long it was online), and counts as live if it has live seconds. Without online ' +
      'seconds, it counts until the time of leaving, for at most a day. Simultaneous visits of one viewer count ' +
      'separately. A record without a time of leaving ends with its day; one that has no online seconds either ' +
      'does not count. Minutes with nobody online have no row.',
    zh:
      '服务端不提供在线人数，此为由观看记录逐秒估算的该分钟内同时在线的最大访问数：每条记录自进入起计，至多持续其在线秒数，且不超过离开时间（时间不含秒时计满该分钟；在进入的同一秒离开的计一秒，不论在线秒数）；' +
      '有直播秒数才计入直播。未提供在线秒数的记录计至离开时间，至多一天。同一观众同时的两次访问计两次；没有离开时间的记录当日截止，在线秒数也没有的不计。无人在线的分钟没有行。',
  },
  key: ['channel_id', 'minute_at'],
  columns: {
    ...channelId('m.channel_id'),
    day: date('m.day', 'Day of the minute; joins dim_date', '该分钟的日期，关联 dim_date'),
    ...minute('m.at'),
    estimated_live_viewers: bigint(
      'm.live_viewers::bigint',
      'Estimated simultaneous live viewers, by the records with live seconds; NULL if none gives them',
      '估计的同时直播在线人数（仅计提供直播秒数的记录）；均未提供时为 NULL',
    ),
    estimated_all_viewers: bigint('m.viewers::bigint', 'Estimated simultaneous viewers', '估计的同时在线人数'),
    ...isTest('m.channel_id'),
  },
  from: `from (
    select a.channel_id, a.day, to_timestamp(n * 60) as at, max(a.viewers) as viewers,
      max(a.live_viewers) as live_viewers
    from ${audienceSteps} a
    cross join lateral generate_series(${minuteNo('a.from_no')}, ${minuteNo('(a.next_no - 1)')}) n
    where a.viewers > 0 group by a.channel_id, a.day, n
  ) m`,
}

import { type BiView, bigint, bool, date, instant } from '../view.ts'
import { joinPerson } from './fragments/identity.ts'
import { duration, holdsDay, localDay, moment } from './fragments/local-time.ts'
import { channelId, isTest, namedViewer } from './fragments/shared-columns.ts'

export const fctViewerDay: BiView = {
  name: 'fct_viewer_day',
  grain: {
    en: 'A viewer of a channel on a day; visits without a viewer share a row a channel and day, with viewer_key NULL',
    zh: '频道 × 观众 × 日期；不含观众 ID 的访问按频道和日期合为一行，viewer_key 为 NULL',
  },
  remarks: {
    en: 'The base of distinct counts over any period: count(distinct viewer_key), or person_key across channels.',
    zh: '任意时段去重统计的基础：count(distinct viewer_key)，跨频道用 person_key。',
  },
  key: ['day', 'channel_id', 'viewer_key'],
  columns: {
    day: date('w.day', 'Day of entry; joins dim_date', '进入日期，关联 dim_date'),
    ...channelId('w.channel_id'),
    ...namedViewer('w'),
    session_count: bigint('w.visit_count', 'Old name of visit_count', 'visit_count 的旧名'),
    watched_session_count: bigint('w.watched_visit_count', 'Old name of watched_visit_count', '同 watched_visit_count'),
    ...duration('online', bigint('w.online_seconds', 'Time online in seconds', '在线时长（秒）')),
    ...duration('watch', bigint('w.watch_seconds', 'Watch time in seconds', '观看时长（秒）')),
    ...duration('live', bigint('w.live_seconds', 'Live watch time in seconds', '直播观看时长（秒）')),
    ...duration('replay', bigint('w.replay_seconds', 'On-demand watch time in seconds', '点播观看时长（秒）')),
    ...moment('first_entered', instant('w.first_entered_at', 'First entry of the day', '当日首次进入')),
    ...moment('last_left', instant('w.last_left_at', 'Latest time of leaving of these visits', '当日访问的最后离开')),
    is_watched: bool('w.watch_seconds > 0', 'Whether anything was watched; NULL if unknown', '是否有观看；未知为 NULL'),
    is_over_one_minute: bool(
      'w.watch_seconds >= 60',
      'Whether a minute or more was watched; NULL if unknown',
      '是否满一分钟；未知为 NULL',
    ),
    is_live: bool('w.live_seconds > 0', 'Whether watched live; NULL if unknown', '是否观看直播；未知为 NULL'),
    is_new: bool(
      `${localDay('v.first_login_at')} = w.day`,
      'Whether it is the day of the first entry in the visitor list; NULL if that is unknown',
      '是否为访客列表记录的首次进入日；未知为 NULL',
    ),
    is_complete: bool(holdsDay('c.watch_covers', 'w.day'), 'Whether all its records have been read', '是否已完整读取'),
    is_final: bool(holdsDay('c.watch_settled', 'w.day'), 'Whether these no longer change', '是否不再变化'),
    visit_count: bigint('w.visit_count', 'Visits', '访问次数'),
    watched_visit_count: bigint(
      'w.watched_visit_count',
      'Visits in which anything was watched; NULL if unknown',
      '有观看的访问次数；未知为 NULL',
    ),
    ...isTest('w.channel_id'),
  },
  from: `from (
    select ${localDay('entered_at')} as day, channel_id, user_id, count(*) as visit_count,
      case when count(watch_seconds) > 0 then count(*) filter (where watch_seconds > 0) end as watched_visit_count,
      sum(online_seconds) as online_seconds, sum(watch_seconds) as watch_seconds, sum(live_seconds) as live_seconds,
      sum(vod_seconds) as replay_seconds, min(entered_at) as first_entered_at, max(left_at) as last_left_at
    from livehouse.watch_records where entered_at is not null group by 1, 2, 3
  ) w
  left join livehouse.visitors v on v.channel_id = w.channel_id and v.user_id = w.user_id
  ${joinPerson('w.channel_id', 'w.user_id')}
  left join livehouse_ops.channel_coverage c on c.channel_id = w.channel_id`,
}

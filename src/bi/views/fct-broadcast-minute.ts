import { type BiView, bigint, double, integer } from '../view.ts'
import { broadcastColumns } from './fct-broadcast.ts'
import { broadcasts, visitsOfBroadcast } from './fragments/broadcasts.ts'
import { minute } from './fragments/local-time.ts'
import { isTest } from './fragments/shared-columns.ts'

/** Visits that begin within so many seconds of the start, or before it, are starters. */
const START_SECONDS = 300
const atStart = `(w.from_no < b.from_no + ${START_SECONDS})::integer`
/** The first minute of the broadcast that begins in this second or later. */
const minuteFrom = (no: string) => `(${no} - b.from_no + 59) / 60`

/** What a visit `w` changes, by the minute of the change; sums over the minutes before give the numbers of a minute. */
const changes = `(values (${minuteFrom('w.from_no')}, 1, 0, 0, 0, 0),
        ((w.from_no - b.from_no) / 60, 0, 1, 0, ${atStart}, 0),
        (${minuteFrom('w.to_no')} - 1, 0, 0, (w.to_no < b.to_no)::integer, 0, 0),
        (${minuteFrom('w.to_no')}, -1, 0, 0, 0, ${atStart})) v (minute, viewers, joins, leaves, starters, gone)`

export const fctBroadcastMinute: BiView = {
  name: 'fct_broadcast_minute',
  grain: { en: 'A minute of a broadcast', zh: '一场直播的一分钟' },
  remarks: {
    en:
      'An estimate from the visits of the broadcast, at the first second of each minute. Two visits of one viewer ' +
      'count twice.',
    zh: '由该场访问估算，以每分钟开始的那一秒为准。同一观众的两次访问计两次。',
  },
  key: ['broadcast_key', 'minute_no'],
  columns: {
    ...broadcastColumns,
    minute_no: integer('m.minute', 'Minutes since the broadcast began, from 0', '开播后的分钟数（从 0 起）'),
    ...minute('to_timestamp(m.no)'),
    estimated_viewers: bigint('m.viewers', 'Visits present', '在场的访问数'),
    joins: bigint(
      'm.joins',
      'Visits that began in the minute; for the first, also earlier ones',
      '该分钟内进入的访问数（首分钟含此前已在场的）',
    ),
    leaves: bigint('m.leaves', 'Visits that ended in the minute, before the end', '该分钟内、结束之前离开的访问数'),
    starters: bigint(
      'm.starters',
      'Visits that began in the first five minutes or earlier',
      '开播五分钟内或之前进入的访问数',
    ),
    retained_starters: bigint('m.retained', 'Starters that have not left yet', '其中尚未离开的访问数'),
    retention: double(
      'm.retained::double precision / nullif(m.starters, 0)',
      'retained_starters as a share of starters, 0 to 1',
      'retained_starters 占 starters 的比例（0–1）',
    ),
    ...isTest('b.channel_id'),
  },
  from: `from ${broadcasts} b
  cross join lateral (
    select n::integer as minute, b.from_no + n * 60 as no, coalesce(sum(e.viewers) over steps, 0)::bigint as viewers,
      coalesce(e.joins, 0) as joins, coalesce(e.leaves, 0) as leaves, sum(e.starters) over ()::bigint as starters,
      (sum(e.starters) over () - coalesce(sum(e.gone) over steps, 0))::bigint as retained
    from generate_series(0, (b.to_no - b.from_no - 1) / 60) n
    left join (
      select v.minute, sum(v.viewers) as viewers, sum(v.joins) as joins, sum(v.leaves) as leaves,
        sum(v.starters) as starters, sum(v.gone) as gone
      from (select t.* from ${visitsOfBroadcast}) w cross join lateral ${changes} group by v.minute
    ) e on e.minute = n
    window steps as (order by n rows unbounded preceding)
  ) m`,
}

import { fillZone } from '../../quote.ts'
import { endAt, enteredNo, isCounted, leftNo, liveFlag, overnight, startNo } from './audience.ts'
import { localDay } from './local-time.ts'

const entryDay = localDay('w.entered_at')

/** NULL if none of the rows has these seconds. */
const ifKnown = (seconds: string, sum: string) => `case when count(x.${seconds}) > 0 then ${sum} end`
/** Measures of the records that began on a day, from one row `x` for each viewer. */
const sums = {
  viewers: 'count(x.user_id)',
  watched_viewers: ifKnown('watch_seconds', 'count(x.user_id) filter (where x.watch_seconds > 0)'),
  viewers_over_one_minute: ifKnown('watch_seconds', 'count(x.user_id) filter (where x.watch_seconds >= 60)'),
  live_viewers: ifKnown('live_seconds', 'count(x.user_id) filter (where x.live_seconds > 0)'),
  visits: 'sum(x.visits)::bigint',
  watched_visits: ifKnown('watch_seconds', 'sum(x.watched_visits)::bigint'),
  watch_seconds: 'sum(x.watch_seconds)::bigint',
  live_seconds: 'sum(x.live_seconds)::bigint',
  replay_seconds: 'sum(x.replay_seconds)::bigint',
} as const

/** The columns of `livehouse_ops.channel_days` that are numbers; `columns` adds the spans of live time. */
export const measures: readonly string[] = [...Object.keys(sums), 'run_id', 'peak_viewers', 'peak_live_viewers']
const columns = [...measures, 'live_spans']

/**
 * The exclusive end of the live time of a record `w`, which is taken to start at entry and to end with the record at
 * the latest. A record that was live for less than half of its stay does not show when, and a page left open for over a
 * day would join the broadcasts of several days: `hasLiveSpan` excludes both.
 */
const liveUntilNo = 'least(w.from_no + w.live_seconds, w.to_no)'
const hasLiveSpan =
  'w.is_counted and w.live_seconds > 0 and w.to_no - w.from_no <= least(2 * w.live_seconds::bigint, 86400)'

/** The distinct days of `from`, with the epoch seconds at which they begin and end. */
const daysIn = (from: string) =>
  `(select distinct channel_id, day, ${startNo('day')} as from_no, ${startNo('day + 1')} as to_no from ${from})`

/** The records of channel `c` that meet a condition, with the epoch seconds at which they begin and end. */
const recordsWhere = (condition: string, more = '') => `
        select w.live_seconds, w.run_id, w.entered_no as from_no, ${endAt('w.entered_no', 'w.left_no')} as to_no${more}
        from (
          select w.*, ${enteredNo} as entered_no, ${leftNo} as left_no from livehouse.watch_records w
          where w.channel_id = c.channel_id and ${condition} offset 0
        ) w`

/** The parts on day `c` of records that began before it. @param condition in the expressions of the index */
const overnightParts = (condition: string) => `
        select c.from_no, least(w.to_no, c.to_no), ${liveFlag}, w.run_id
        from (${recordsWhere(`${overnight.where} and ${isCounted} and ${condition}`)}
        ) w where w.to_no > c.from_no`

/**
 * Computes the figures of day `c` of a channel from its records: one row, all NULL if it has none any more. The peak is
 * the largest running sum of entries and leaves; within a second leaves come first, so no sum in between exceeds it.
 * Records that began within one minute make one span of live time, as broadcasts are a minute or more apart.
 */
const dayFigures = `(
      with began as materialized (${recordsWhere(
        `${entryDay} = c.day`,
        `, w.user_id, w.watch_seconds, w.vod_seconds, w.online_seconds, w.left_no, ${isCounted} as is_counted`,
      )}
      ),
      stays as (
        select w.from_no, least(w.to_no, c.to_no) as to_no, ${liveFlag}, w.run_id from began w where w.is_counted
        union all${overnightParts(`${overnight.reach} = 1 and ${overnight.leaveDay} = c.day`)}
        union all${overnightParts(`${overnight.reach} = 2 and ${overnight.leaveDay} >= c.day and ${entryDay} < c.day`)}
      )
      select ${columns.join(', ')}
      from (
        select max(s.live_viewers) as peak_live_viewers, coalesce(max(s.viewers),
          (select 0 from began having bool_and(coalesce(online_seconds, left_no) is not null))) as peak_viewers
        from (
          select sum(b.change) over steps as viewers, sum(b.live_change) over steps as live_viewers
          from (
            select from_no * 2 + 1 as place, 1 as change, live as live_change from stays
            union all
            select to_no * 2, -1, -live from stays
          ) b
          window steps as (order by b.place rows unbounded preceding)
        ) s
      ) p
      left join (
        select ${Object.entries(sums)
          .map(([name, sql]) => `${sql} as ${name}`)
          .join(', ')}
        from (
          select w.user_id, count(*) as visits, count(*) filter (where w.watch_seconds > 0) as watched_visits,
            sum(w.watch_seconds) as watch_seconds, sum(w.live_seconds) as live_seconds,
            sum(w.vod_seconds) as replay_seconds
          from began w group by w.user_id
        ) x having count(*) > 0
      ) f on true
      cross join (select greatest((select max(run_id) from began), (select max(run_id) from stays)) as run_id) r
      left join (
        select range_agg(int8range(x.from_no, x.to_no)) as live_spans from (
          select min(w.from_no) as from_no, max(${liveUntilNo}) as to_no
          from began w where ${hasLiveSpan} group by w.from_no / 60
        ) x
      ) l on true
    )`

const selectColumns = (alias: string) => columns.map((name) => `${alias}.${name}`).join(', ')

const unchangedDays = `from livehouse_ops.channel_days k where not exists (
      select from livehouse_ops.changed_channel_days c where c.channel_id = k.channel_id and c.day = k.day)`

/** Days on which visits of a channel began, without computing the figures of changed days. */
export const entryDays = `(
    select k.channel_id, k.day ${unchangedDays} and k.visits is not null
    union all
    select c.channel_id, c.day from livehouse_ops.changed_channel_days c where exists (
      select from livehouse.watch_records w where ${entryDay} = c.day and w.channel_id = c.channel_id)
  )`

/**
 * The figures of each channel and day: as stored, but computed by the query for days that have changed since. So they
 * are never stale, whatever changed the records.
 */
export const channelDays = `(
    select k.channel_id, k.day, ${selectColumns('k')} ${unchangedDays}
    union all
    select c.channel_id, c.day, ${selectColumns('x')}
    from ${daysIn('livehouse_ops.changed_channel_days')} c cross join lateral ${dayFigures} x
  )`

/**
 * Computes and stores the figures of changed days, and deletes their notes. Both happen in one statement, hence one
 * snapshot, so that the figures include exactly those changes. Returns the number of `days`.
 * @param mostDays how many days to compute at most
 */
export function refreshChangedDays(mostDays: number, timeZone: string): string {
  const statement = `with taken as (
      delete from livehouse_ops.changed_channel_days c using (
        select distinct channel_id, day from livehouse_ops.changed_channel_days
        order by day desc, channel_id desc limit ${mostDays}
      ) d where c.channel_id = d.channel_id and c.day = d.day returning c.channel_id, c.day
    ),
    days as ${daysIn('taken')},
    kept as (
      insert into livehouse_ops.channel_days (channel_id, day, ${columns.join(', ')})
      select c.channel_id, c.day, ${selectColumns('x')} from days c cross join lateral ${dayFigures} x
      on conflict (channel_id, day) do update
      set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}, refreshed_at = now()
    )
    select count(*)::integer as days from days`
  return fillZone(statement, timeZone)
}

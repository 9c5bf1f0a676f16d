import { between, by, countBy, descending, distinct, groupBy, hours, type Question, rounded, sum } from './question.ts'
import { clockOf, dayOf, stayOf, type TruthFacts, textIn, type Visit, weekdayOf, weekOf } from './truth-facts.ts'

const MINUTE_MS = 60_000

/** The most records that are online at once in each minute of a channel, counted second by second. */
function minutesOf(visits: readonly Visit[]): ReadonlyMap<number, number> {
  const seconds = new Map<number, number>()
  for (const visit of visits.filter(({ online }) => online > 0))
    for (let second = visit.enteredMs / 1000, end = second + stayOf(visit); second < end; second++)
      seconds.set(second, (seconds.get(second) ?? 0) + 1)
  const minutes = Map.groupBy(seconds, ([second]) => Math.floor(second / 60))
  return new Map([...minutes].map(([minute, counts]) => [minute, Math.max(...counts.map(([, count]) => count))]))
}

function peakOf({ visits }: TruthFacts, of: string, day: string): number {
  const ofDay = [...minutesOf(visits.filter(({ channel }) => channel === of))].filter(
    ([minute]) => dayOf(minute * MINUTE_MS) === day,
  )
  return Math.max(0, ...ofDay.map(([, count]) => count))
}

const isLive = (visit: Visit) => visit.live > 0
const titleOf = ({ truth }: TruthFacts, channel: string) =>
  textIn(truth.channels.find((row) => row.channel_id === channel) ?? {}, 'name') ?? channel

/** Who watched, when, and for how long. */
export const audienceQuestions: readonly Question[] = [
  {
    title: 'What happened on each channel on 19 November?',
    sql: `select c.channel_title, d.viewers, d.new_viewers, d.visits, d.viewers_over_one_minute,
  round(d.watch_seconds / 3600.0, 1) as watch_hours, d.estimated_peak_viewers as peak, d.is_complete
from livehouse_bi.daily_channel d join livehouse_bi.dim_channel c using (channel_id)
where d.day = '2026-11-19' and not d.is_test
order by d.channel_id`,
    answer: (facts) =>
      groupBy(between(facts.visits, '2026-11-19', '2026-11-19'), by.channel).map(({ key, rows: visits }) => {
        const perViewer = groupBy(visits, by.viewer)
        return [
          titleOf(facts, key),
          perViewer.length,
          facts.viewers.filter(({ channel, firstDay }) => channel === key && firstDay === '2026-11-19').length,
          visits.length,
          perViewer.filter((viewer) => sum(viewer.rows, by.watch) >= 60).length,
          hours(sum(visits, by.watch)),
          peakOf(facts, key, '2026-11-19'),
          'true',
        ]
      }),
  },
  {
    title: 'How many viewers did we reach this month, and how many people are they?',
    sql: `select count(distinct viewer_key) as viewers, count(distinct person_key) as people
from livehouse_bi.fct_viewer_day
where day >= '2026-11-01' and not is_test`,
    answer: ({ visits }) => {
      const month = between(visits, '2026-11-01')
      return [[distinct(month, by.viewer), distinct(month, by.person)]]
    },
  },
  {
    title: 'Which channel holds its viewers the longest?',
    sql: `select c.channel_title, count(distinct f.viewer_key) as viewers,
  round(sum(f.watch_seconds) / 60.0 / count(distinct f.viewer_key), 1) as minutes_a_viewer
from livehouse_bi.fct_viewer_day f join livehouse_bi.dim_channel c using (channel_id)
where f.viewer_key is not null and not c.is_test
group by f.channel_id, c.channel_title
order by minutes_a_viewer desc nulls last`,
    answer: (facts) =>
      descending(
        groupBy(facts.visits, ({ channel, viewer }) => viewer && titleOf(facts, channel)).map(({ key, rows }) => {
          const viewers = distinct(rows, by.viewer)
          return [key, viewers, rounded(sum(rows, by.watch) / 6 / viewers)]
        }),
        2,
      ),
  },
  {
    title: 'How much is watched live, and how much as a replay?',
    sql: `select c.channel_title, round(sum(d.live_seconds) / 3600.0, 1) as live_hours,
  round(sum(d.replay_seconds) / 3600.0, 1) as replay_hours
from livehouse_bi.daily_channel d join livehouse_bi.dim_channel c using (channel_id)
where not c.is_test
group by d.channel_id, c.channel_title order by d.channel_id`,
    answer: (facts) =>
      groupBy(facts.visits, by.channel).map(({ key, rows }) => {
        return [titleOf(facts, key), ...[sum(rows, ({ live }) => live), sum(rows, ({ replay }) => replay)].map(hours)]
      }),
  },
  {
    title: 'How many were in the fullest live minute of each channel, and when was it?',
    sql: `select distinct on (a.channel_id) c.channel_title, a.estimated_live_viewers as live_viewers, a.minute_at_local::text as minute
from livehouse_bi.fct_audience_minute a join livehouse_bi.dim_channel c using (channel_id)
where not c.is_test
order by a.channel_id, a.estimated_live_viewers desc nulls last, a.minute_at`,
    answer: (facts) =>
      groupBy(facts.visits.filter(isLive), by.channel).map(({ key, rows }) => {
        const [minute = 0, count = 0] = [...minutesOf(rows)].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? []
        return [titleOf(facts, key), count, clockOf(minute * MINUTE_MS)]
      }),
  },
  {
    title: 'At what hours do viewers come?',
    sql: `select entered_hour, count(*) as visits
from livehouse_bi.fct_watch
where not is_test
group by entered_hour order by visits desc, entered_hour::text limit 5`,
    answer: ({ visits }) => countBy(visits, ({ hour }) => String(hour)).slice(0, 5),
  },
  {
    title: 'Which days of the week are the strongest?',
    sql: `select d.weekday, count(*) as visits, round(sum(f.watch_seconds) / 3600.0, 1) as watch_hours
from livehouse_bi.fct_watch f join livehouse_bi.dim_date d using (day)
where not f.is_test
group by d.weekday order by d.weekday`,
    answer: ({ visits }) =>
      groupBy(visits, ({ day }) => `${weekdayOf(day)}`).map(({ key, rows }) => {
        return [key, rows.length, hours(sum(rows, by.watch))]
      }),
  },
  {
    title: 'Through which links do viewers come?',
    sql: `select access_source, count(*) as visits, count(distinct viewer_key) as viewers
from livehouse_bi.fct_watch
where not is_test
group by access_source order by visits desc, access_source collate "C"`,
    answer: ({ visits }) =>
      descending(
        groupBy(visits, ({ source }) => source).map(({ key, rows }) => [key, rows.length, distinct(rows, by.viewer)]),
        1,
      ),
  },
  {
    title: 'On which devices do they watch?',
    sql: `select device, round(sum(watch_seconds) / 3600.0, 1) as watch_hours
from livehouse_bi.fct_watch
where not is_test
group by device order by sum(watch_seconds) desc nulls last`,
    answer: ({ visits }) =>
      descending(
        groupBy(visits, ({ device }) => device).map(({ key, rows }) => [key, hours(sum(rows, by.watch))]),
        1,
      ),
  },
  {
    title: 'How many viewers were new each week, and how many came back?',
    sql: `select d.week_start, count(distinct f.viewer_key) as viewers,
  count(distinct f.viewer_key) filter (where f.is_new) as new_viewers
from livehouse_bi.fct_viewer_day f join livehouse_bi.dim_date d using (day)
where not f.is_test
group by d.week_start order by d.week_start`,
    answer: ({ visits, viewers }) => {
      const firstDay = new Map(viewers.map((viewer) => [viewer.viewer, viewer.firstDay]))
      return groupBy(visits, ({ day }) => weekOf(day)).map(({ key, rows }) => [
        key,
        distinct(rows, by.viewer),
        distinct(rows, ({ viewer, day }) => (firstDay.get(viewer ?? '') === day ? viewer : null)),
      ])
    },
  },
  {
    title: 'On which weekday and at which hour are the most on a channel at once?',
    sql: `select d.weekday, extract(hour from a.minute_at_local)::integer as hour, max(a.estimated_all_viewers) as peak
from livehouse_bi.fct_audience_minute a join livehouse_bi.dim_date d using (day)
where not a.is_test
group by d.weekday, hour order by peak desc, d.weekday, hour limit 5`,
    answer: ({ visits }) => {
      const minutes = groupBy(visits, by.channel).flatMap(({ rows }) => [...minutesOf(rows)])
      const hourly = groupBy(minutes, ([minute]) => {
        const [day = '', time = ''] = clockOf(minute * MINUTE_MS).split(' ')
        return `${weekdayOf(day)} ${time.slice(0, 2)}`
      })
      return hourly
        .map(({ key, rows }) => [...key.split(' ').map(Number), Math.max(...rows.map(([, count]) => count))])
        .toSorted((a, b) => (b[2] ?? 0) - (a[2] ?? 0))
        .slice(0, 5)
    },
  },
  {
    title: 'How long does a visit last on each device?',
    sql: `select device, percentile_disc(0.5) within group (order by online_seconds) as median_seconds,
  percentile_disc(0.9) within group (order by online_seconds) as nine_of_ten_below
from livehouse_bi.fct_watch
where not is_test
group by device order by device collate "C"`,
    answer: ({ visits }) =>
      groupBy(visits, ({ device }) => device).map(({ key, rows }) => {
        const seconds = rows.map(({ online }) => online).toSorted((a, b) => a - b)
        const at = (share: number) => seconds[Math.ceil(share * seconds.length) - 1] ?? null
        return [key, at(0.5), at(0.9)]
      }),
  },
  {
    title: 'On how many days of November was a channel idle, and when was it last live?',
    sql: `select channel_id, count(*) filter (where visits = 0) as idle_days,
  count(*) filter (where visits > 0 and live_viewers = 0) as days_of_replays, max(day) filter (where live_viewers > 0) as last_live
from livehouse_bi.daily_channel
where day between '2026-11-01' and '2026-11-19' and is_watch_complete and not is_test
group by channel_id order by channel_id`,
    answer: ({ visits }) =>
      groupBy(between(visits, '2026-11-01', '2026-11-19'), by.channel).map(({ key, rows }) => {
        const [all, live] = [rows, rows.filter(isLive)].map((some) => groupBy(some, ({ day }) => day))
        const days = all?.length ?? 0
        return [key, 19 - days, days - (live?.length ?? 0), live?.at(-1)?.key ?? null]
      }),
  },
  {
    title: 'Which of the days that we ask about are there as a whole, and which may still change?',
    sql: `select day, count(*) as channels, count(*) filter (where is_complete) as complete, count(*) filter (where is_final) as final
from livehouse_bi.daily_channel
where day between '2026-11-17' and '2026-11-20' and not is_test
group by day order by day`,
    // The world has been read once: only a second reading shows that a day no longer changes.
    answer: ({ truth: { channels } }) =>
      [17, 18, 19, 20].map((day) => [`2026-11-${day}`, channels.length, day < 20 ? channels.length : 0, 0]),
  },
]

import type { TruthRow } from '../../../src/emulator/truth.ts'
import { by, countBy, distinct, groupBy, hours, type Question, sum } from './question.ts'
import { textIn, type Viewer } from './truth-facts.ts'

/** The provinces of the places that the emulator knows. */
const provinces = ['浙江', '江苏', '上海', '北京', '广东', '四川', '湖北', '山东', '内蒙古'] as const
const provinceOf = (address: string | null) => provinces.find((each) => address?.startsWith(each)) ?? '(unknown)'

/** The group that the operator has put a channel in, by its name. */
export const groupOf = (channel: TruthRow) => (textIn(channel, 'name')?.startsWith('产品') ? 'training' : 'marketing')

export const peopleQuestions: readonly Question[] = [
  {
    title: 'From which provinces do our viewers come?',
    sql: `select coalesce(province, '(unknown)') as place, count(*) as viewers
from livehouse_bi.dim_viewer
where not is_removed and not is_test
group by place order by viewers desc, min(province) collate "C" limit 5`,
    answer: ({ viewers }) => countBy(viewers, ({ address }) => provinceOf(address)).slice(0, 5),
  },
  {
    title: 'How many days do viewers come?',
    sql: `select days, count(*) as viewers
from (select viewer_key, count(*) as days from livehouse_bi.fct_viewer_day
  where viewer_key is not null and not is_test group by viewer_key) v
group by days order by days`,
    answer: ({ visits }) => {
      const days = groupBy(visits, by.viewer).map(({ rows }) => distinct(rows, ({ day }) => day))
      return [...Map.groupBy(days, (count) => count)]
        .sort(([a], [b]) => a - b)
        .map(([count, all]) => [count, all.length])
    },
  },
  {
    title: 'Who are our most loyal people?',
    sql: `select min(identity_basis) as identity_basis, count(distinct channel_id) as channels, sum(visit_count) as visits,
  round(sum(watch_seconds) / 3600.0, 1) as watch_hours
from livehouse_bi.dim_viewer
where identity_basis <> 'none' and not is_test
group by person_key
order by sum(watch_seconds) desc nulls last, sum(visit_count) desc nulls last limit 5`,
    answer: ({ viewers }) => {
      const known = viewers.filter(({ basis }) => basis !== 'none')
      return groupBy(known, by.person)
        .map(({ rows }) => ({ rows, visits: sum(rows, ({ visits }) => visits), watch: sum(rows, by.watch) }))
        .sort((a, b) => b.watch - a.watch || b.visits - a.visits)
        .slice(0, 5)
        .map(({ rows, visits, watch }) => [rows[0]?.basis ?? '', distinct(rows, by.channel), visits, hours(watch)])
    },
  },
  {
    title: 'How many people do we know by something better than a viewer id, and how many in several channels?',
    sql: `select identity_basis, count(*) as people, count(*) filter (where channels > 1) as in_several_channels
from (select min(identity_basis) as identity_basis, count(distinct channel_id) as channels
  from livehouse_bi.dim_viewer where not is_test group by person_key) p
group by identity_basis order by identity_basis`,
    answer: ({ viewers }) =>
      groupBy(viewers, ({ basis }) => basis).map(({ key, rows }) => {
        const people = groupBy(rows, by.person)
        return [key, people.length, people.filter((person) => distinct(person.rows, by.channel) > 1).length]
      }),
  },
  {
    title: 'How far do the viewers of each channel go: from a visit to a gift?',
    sql: `select channel_id, step, viewers, unmatched_events
from livehouse_bi.viewer_funnel
where not is_test
order by channel_id, step_no`,
    answer: ({ viewers, gifts, signups }) =>
      groupBy(viewers, by.channel).flatMap(({ key, rows }) => {
        const matched = (facts: typeof gifts) => {
          const own = facts.filter(({ channel }) => channel === key)
          const unmatched = own.filter(({ viewer }) => viewer === null).length
          return [unmatched * 5 <= own.length ? distinct(own, by.viewer) : null, unmatched] as const
        }
        return [
          [key, 'visited', rows.length, 0],
          [key, 'watched', rows.filter(({ watch }) => watch > 0).length, 0],
          [key, 'watched_one_minute', rows.filter(({ watch }) => watch >= 60).length, 0],
          [key, 'commented', rows.filter(({ comments }) => comments > 0).length, 0],
          [key, 'signed_up', ...matched(signups)],
          [key, 'gave_gift', ...matched(gifts)],
        ]
      }),
  },
  {
    title: 'How many regular viewers has each channel, and how many of them have not come for two weeks?',
    sql: `select channel_id, count(*) as regulars, count(*) filter (where last_day <= '2026-11-06') as away
from (select channel_id, viewer_key, max(day) as last_day from livehouse_bi.fct_viewer_day
  where viewer_key is not null and not is_test group by channel_id, viewer_key having count(*) >= 3) v
group by channel_id order by channel_id`,
    answer: ({ visits }) =>
      groupBy(visits, ({ viewer, channel }) => viewer && channel).map(({ key, rows }) => {
        const days = groupBy(rows, by.viewer).map((viewer) => groupBy(viewer.rows, ({ day }) => day))
        const regulars = days.filter(({ length }) => length >= 3)
        return [key, regulars.length, regulars.filter((own) => (own.at(-1)?.key ?? '') <= '2026-11-06').length]
      }),
  },
  {
    title: 'Which channels share their audience?',
    sql: `with came as (select distinct channel_id, person_key from livehouse_bi.fct_viewer_day where not is_test)
select a.channel_id, b.channel_id as other_channel_id, count(*) as people
from came a join came b on b.person_key = a.person_key and b.channel_id > a.channel_id
group by a.channel_id, b.channel_id order by a.channel_id, b.channel_id`,
    answer: ({ visits }) => {
      const channels = groupBy(visits, by.channel).map(({ key, rows }) => {
        return { key, people: new Set(rows.flatMap(({ person }) => person ?? [])) }
      })
      return channels.flatMap((a) => {
        const others = channels.filter(({ key, people }) => key > a.key && !a.people.isDisjointFrom(people))
        return others.map(({ key, people }) => [a.key, key, a.people.intersection(people).size])
      })
    },
  },
  {
    title: 'How do groups of channels compare this month?',
    sql: `select c.channel_group, count(distinct c.channel_id) as channels, sum(d.visits) as visits, sum(d.new_viewers) as new_viewers,
  round(sum(d.watch_seconds) / 3600.0 / count(distinct c.channel_id), 1) as watch_hours_a_channel
from livehouse_bi.daily_channel d join livehouse_bi.dim_channel c using (channel_id)
where d.day >= '2026-11-01' and not d.is_test
group by c.channel_group order by c.channel_group`,
    answer: ({ visits, viewers, truth }) =>
      groupBy(truth.channels, groupOf).map(({ key, rows }) => {
        const channels = new Set(rows.map((row) => textIn(row, 'channel_id')))
        const own = visits.filter(({ channel, day }) => channels.has(channel) && day >= '2026-11-01')
        const isNew = ({ channel, firstDay }: Viewer) => channels.has(channel) && firstDay >= '2026-11-01'
        return [key, channels.size, own.length, viewers.filter(isNew).length, hours(sum(own, by.watch) / channels.size)]
      }),
  },
]

import { provinceOf } from './province-of.ts'
import { descending, distinct, groupBy, hours, type Question, sum } from './question.ts'

/** Who the viewers are. */
export const peopleQuestions: readonly Question[] = [
  {
    title: 'From which provinces do our viewers come?',
    sql: `select coalesce(province, '(unknown)') as place, count(*) as viewers
from livehouse_bi.dim_viewer
where not is_removed and not is_test
group by place order by viewers desc, min(province) collate "C" limit 5`,
    answer: ({ viewers }) =>
      descending(
        groupBy(viewers, ({ address }) => provinceOf(address)).map(({ key, rows }) => [key, rows.length]),
        1,
      ).slice(0, 5),
  },
  {
    title: 'How many days do viewers come?',
    sql: `select days, count(*) as viewers
from (select viewer_key, count(*) as days from livehouse_bi.fct_viewer_day where not is_test group by viewer_key) v
group by days order by days`,
    answer: ({ visits }) => {
      const days = groupBy(visits, ({ viewer }) => viewer).map(({ rows }) => distinct(rows, ({ day }) => day))
      return [...Map.groupBy(days, (count) => count)]
        .sort((a, b) => a[0] - b[0])
        .map(([count, all]) => [count, all.length])
    },
  },
  {
    title: 'Who are our most loyal people?',
    sql: `select p.identity_basis, p.channel_count as channels, p.visit_count as visits,
  round(p.watch_seconds / 3600.0, 1) as watch_hours
from livehouse_bi.dim_person p
where p.is_identified
order by p.watch_seconds desc, p.visit_count desc limit 5`,
    answer: ({ viewers }) =>
      groupBy(
        viewers.filter(({ basis }) => basis !== 'none'),
        ({ person }) => person,
      )
        .map(({ rows }) => ({
          basis: rows[0]?.basis ?? '',
          channels: distinct(rows, ({ channel }) => channel),
          visits: sum(rows, ({ visits }) => visits),
          watch: sum(rows, ({ watch }) => watch),
        }))
        .sort((a, b) => b.watch - a.watch || b.visits - a.visits)
        .slice(0, 5)
        .map(({ basis, channels, visits, watch }) => [basis, channels, visits, hours(watch)]),
  },
  {
    title: 'How many people do we know by something better than a viewer id, and how many in several channels?',
    sql: `select identity_basis, count(*) as people, count(*) filter (where channel_count > 1) as in_several_channels
from livehouse_bi.dim_person
group by identity_basis order by identity_basis`,
    answer: ({ viewers }) =>
      groupBy(viewers, ({ basis }) => basis).map(({ key, rows }) => {
        const people = groupBy(rows, ({ person }) => person)
        return [
          key,
          people.length,
          people.filter((person) => distinct(person.rows, ({ channel }) => channel) > 1).length,
        ]
      }),
  },
  {
    title: 'How far do the viewers of each channel go: from a visit to a gift?',
    sql: `select channel_id, step, viewers, unmatched_events
from livehouse_bi.viewer_funnel
where not is_test
order by channel_id, step_no`,
    answer: ({ viewers, gifts, signups }) =>
      groupBy(viewers, ({ channel }) => channel).flatMap(({ key, rows }) => {
        const matched = (facts: typeof gifts) => {
          const own = facts.filter(({ channel }) => channel === key)
          const unmatched = own.filter(({ viewer }) => viewer === null).length
          return [unmatched * 5 <= own.length ? distinct(own, ({ viewer }) => viewer) : null, unmatched] as const
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
]

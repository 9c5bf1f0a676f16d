import { descending, distinct, groupBy, type Question, rounded, sum } from './question.ts'
import { dayOf, stayOf, type Visit, weekOf } from './truth-facts.ts'

const MINUTE_MS = 60_000

/** Begin and end of the broadcasts of a channel, in milliseconds, by the method of docs/metrics.md. */
function broadcastsOf(visits: readonly Visit[]): readonly (readonly [number, number])[] {
  const live = visits
    .filter((visit) => visit.live > 0 && stayOf(visit) <= Math.min(2 * visit.live, 86_400))
    .toSorted((a, b) => a.enteredMs - b.enteredMs)
  const found: [number, number][] = []
  for (const visit of live) {
    const end = visit.enteredMs + Math.min(visit.live, stayOf(visit)) * 1000
    const last = found.at(-1)
    if (last !== undefined && visit.enteredMs <= last[1] + 30 * MINUTE_MS) last[1] = Math.max(last[1], end)
    else found.push([visit.enteredMs, end])
  }
  return found.filter(([start, end]) => end - start >= 10 * MINUTE_MS)
}

/** Broadcasts, and who comes back. */
export const broadcastQuestions: readonly Question[] = [
  {
    title: 'Which broadcasts had the most viewers, and when did they begin?',
    sql: `select broadcast_key, viewers, visits, broadcast_seconds
from livehouse_bi.fct_broadcast
where not is_test
order by viewers desc, broadcast_key limit 5`,
    answer: ({ visits }) =>
      descending(
        groupBy(visits, ({ channel }) => channel).flatMap(({ key, rows }) =>
          broadcastsOf(rows).map(([start, end]) => {
            const dayBefore = dayOf(start - 24 * 60 * MINUTE_MS)
            const there = rows
              .filter((visit) => visit.online > 0 && visit.day >= dayBefore)
              .filter((visit) => visit.enteredMs < end && visit.enteredMs + stayOf(visit) * 1000 > start)
            const minute = new Date(start + 8 * 60 * MINUTE_MS).toISOString().replaceAll(/[-:]/g, '').slice(0, 13)
            return [`${key}:${minute}`, distinct(there, ({ viewer }) => viewer), there.length, (end - start) / 1000]
          }),
        ),
        1,
      ).slice(0, 5),
  },
  {
    title: 'How sticky is each channel: which share of the viewers of 30 days comes on a day?',
    sql: `select channel_id, round(100.0 * count(*) / 30 / count(distinct viewer_key), 1) as percent
from livehouse_bi.fct_viewer_day
where day between '2026-10-21' and '2026-11-19' and viewer_key is not null and not is_test
group by channel_id order by channel_id`,
    answer: ({ visits }) =>
      groupBy(
        visits.filter(({ day }) => day >= '2026-10-21' && day <= '2026-11-19'),
        ({ channel }) => channel,
      ).map(({ key, rows }) => {
        const days = distinct(rows, ({ viewer, day }) => `${viewer} ${day}`)
        return [key, rounded((1000 * days) / 30 / distinct(rows, ({ viewer }) => viewer))]
      }),
  },
  {
    title: 'Through which links do viewers come who sign up?',
    sql: `select w.access_source, count(distinct w.viewer_key) as viewers, count(distinct s.viewer_key) as signed_up
from livehouse_bi.fct_watch w left join livehouse_bi.fct_signup s using (viewer_key)
where not w.is_test
group by w.access_source order by viewers desc, w.access_source collate "C"`,
    answer: ({ visits, signups }) => {
      const signed = new Set(signups.map(({ viewer }) => viewer))
      const perLink = groupBy(visits, ({ source }) => source ?? '').map(({ key, rows }) => [
        key,
        distinct(rows, ({ viewer }) => viewer),
        distinct(rows, ({ viewer }) => (signed.has(viewer) ? viewer : null)),
      ])
      return descending(perLink, 1)
    },
  },
  {
    title: 'Who gave the most in cash?',
    sql: `select viewer_key, count(*) as gifts, sum(cash_amount) as cash
from livehouse_bi.fct_gift
where is_cash and viewer_key is not null and not is_test
group by viewer_key order by cash desc, viewer_key limit 3`,
    answer: ({ gifts }) =>
      descending(
        groupBy(
          gifts.filter(({ viewer, row }) => viewer !== null && row.gift_type === 'cash'),
          ({ viewer }) => viewer ?? '',
        ).map(({ key, rows }) => {
          const cents = sum(rows, ({ row }) => Math.round(Number(row.amount) * 100))
          return [key, rows.length, (cents / 100).toFixed(2)]
        }),
        2,
      ).slice(0, 3),
  },
  {
    title: 'How many of the viewers of a week came for the first time, and how many of them again a week later?',
    sql: `select cohort_week, sum(viewers) filter (where week_no = 0) as viewers, sum(viewers) filter (where week_no = 1) as a_week_later
from livehouse_bi.viewer_cohort_week
where not is_test
group by cohort_week order by cohort_week`,
    answer: ({ visits }) => {
      const weeks = groupBy(visits, ({ viewer }) => viewer).map(({ rows }) =>
        rows.map(({ day }) => weekOf(day)).toSorted(),
      )
      return groupBy(weeks, ([first = '']) => first).map(({ key, rows }) => {
        const next = new Date(Date.parse(`${key}T00:00:00Z`) + 7 * 24 * 60 * MINUTE_MS).toISOString().slice(0, 10)
        return [key, rows.length, rows.filter((own) => own.includes(next)).length || null]
      })
    },
  },
]

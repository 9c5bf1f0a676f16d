import { between, by, descending, distinct, groupBy, type Question, rounded, sum } from './question.ts'
import { addDays, clockOf, dayOf, msIn, stayOf, type TruthFacts, type Visit, weekOf } from './truth-facts.ts'

const MINUTE_MS = 60_000

/** The start and end of the broadcasts of a channel, in milliseconds, by the method of docs/metrics.md. */
function broadcastsOf(visits: readonly Visit[]): readonly (readonly [number, number])[] {
  const live = visits
    .filter((visit) => visit.live > 0 && stayOf(visit) <= Math.min(2 * visit.live, 86_400))
    .toSorted((a, b) => a.enteredMs - b.enteredMs)
  const broadcasts: [number, number][] = []
  for (const visit of live) {
    const end = visit.enteredMs + Math.min(visit.live, stayOf(visit)) * 1000
    const last = broadcasts.at(-1)
    if (last !== undefined && visit.enteredMs <= last[1] + 30 * MINUTE_MS) last[1] = Math.max(last[1], end)
    else broadcasts.push([visit.enteredMs, end])
  }
  return broadcasts.filter(([start, end]) => end - start >= 10 * MINUTE_MS)
}

/** Each broadcast with its key, and the visits during it, cut at its ends. */
function broadcastsWithVisits({ visits }: TruthFacts) {
  return groupBy(visits, by.channel).flatMap(({ key: channel, rows }) =>
    broadcastsOf(rows).map(([start, end]) => {
      const dayBefore = dayOf(start - 24 * 60 * MINUTE_MS)
      const stays = rows
        .filter(({ online, day }) => online > 0 && day >= dayBefore)
        .map((visit) => {
          const to = Math.min(end, visit.enteredMs + stayOf(visit) * 1000)
          return { viewer: visit.viewer, from: Math.max(start, visit.enteredMs), to }
        })
        .filter(({ from, to }) => from < to)
      const minute = clockOf(start).replaceAll(/[-:]/g, '').replace(' ', 'T').slice(0, 13)
      return { key: `${channel}:${minute}`, channel, start, end, stays }
    }),
  )
}

/** Broadcasts, and who comes back. */
export const broadcastQuestions: readonly Question[] = [
  {
    title: 'Which broadcasts had the most viewers, and when did they begin?',
    sql: `select broadcast_key, viewers, visits, broadcast_seconds
from livehouse_bi.fct_broadcast
where not is_test
order by viewers desc, broadcast_key limit 5`,
    answer: (facts) => {
      const measured = broadcastsWithVisits(facts).map(({ key, start, end, stays }) => {
        return [key, distinct(stays, by.viewer), stays.length, (end - start) / 1000]
      })
      return descending(measured, 1).slice(0, 5)
    },
  },
  {
    title: 'How many of those who come for the start of a broadcast are still there after 10, 30 and 60 minutes?',
    sql: `select minute_no, count(*) as broadcasts, sum(starters) as came, sum(retained_starters) as still_there
from livehouse_bi.fct_broadcast_minute
where minute_no in (10, 30, 60) and not is_test
group by minute_no order by minute_no`,
    answer: (facts) =>
      [10, 30, 60].map((minute) => {
        const long = broadcastsWithVisits(facts).filter(({ start, end }) => end - start > minute * MINUTE_MS)
        const came = long.map(({ start, stays }) => stays.filter(({ from }) => from < start + 5 * MINUTE_MS))
        const stayed = long.map(({ start }, at) => came[at]?.filter(({ to }) => to > start + minute * MINUTE_MS) ?? [])
        return [minute, long.length, came.flat().length, stayed.flat().length]
      }),
  },
  {
    title: 'How much of a broadcast do its viewers see?',
    sql: `select case when share_of_broadcast >= 0.9 then 'nearly all' when share_of_broadcast >= 0.5 then 'half or more'
    when share_of_broadcast >= 0.1 then 'a part' else 'a glance' end as seen, count(*) as viewers
from livehouse_bi.fct_broadcast_viewer
where not is_test
group by seen order by min(share_of_broadcast)`,
    answer: (facts) => {
      const shares = broadcastsWithVisits(facts).flatMap(({ start, end, stays }) =>
        groupBy(stays, by.viewer).map(({ rows }) => sum(rows, ({ from, to }) => to - from) / (end - start)),
      )
      const levelOf = (share: number) => [0.1, 0.5, 0.9].filter((least) => share >= least).length
      const names = ['a glance', 'a part', 'half or more', 'nearly all']
      return names.map((name, level) => [name, shares.filter((share) => levelOf(share) === level).length])
    },
  },
  {
    title: 'Which broadcasts brought in the most cash for each viewer?',
    sql: `select broadcast_key, cash_amount, viewers, round(cash_amount / nullif(viewers, 0), 2) as cash_a_viewer
from livehouse_bi.fct_broadcast
where cash_amount > 0 and not is_test
order by cash_a_viewer desc nulls last, broadcast_key limit 3`,
    answer: (facts) => {
      const paid = broadcastsWithVisits(facts).flatMap(({ key, channel, start, end, stays }) => {
        const cash = facts.gifts.filter((gift) => gift.channel === channel && gift.row.gift_type === 'cash')
        const given = cash.filter(({ row }) => msIn(row, 'given_at') >= start && msIn(row, 'given_at') < end)
        const cents = sum(given, ({ row }) => Math.round(Number(row.amount) * 100))
        const viewers = distinct(stays, by.viewer)
        const each = (Math.round(cents / viewers) / 100).toFixed(2)
        return cents > 0 ? [[key, (cents / 100).toFixed(2), viewers, each] as const] : []
      })
      return descending(paid, 3).slice(0, 3)
    },
  },
  {
    title: 'How sticky is each channel: which share of the viewers of 30 days comes on a day?',
    sql: `select channel_id, round(100.0 * count(*) / 30 / count(distinct viewer_key), 1) as percent
from livehouse_bi.fct_viewer_day
where day between '2026-10-21' and '2026-11-19' and viewer_key is not null and not is_test
group by channel_id order by channel_id`,
    answer: ({ visits }) =>
      groupBy(between(visits, '2026-10-21', '2026-11-19'), by.channel).map(({ key, rows }) => {
        const days = distinct(rows, ({ viewer, day }) => viewer && `${viewer} ${day}`)
        return [key, rounded((1000 * days) / 30 / distinct(rows, by.viewer))]
      }),
  },
  {
    title: 'Through which links do viewers come who sign up?',
    sql: `select w.access_source, count(distinct w.viewer_key) as viewers, count(distinct s.viewer_key) as signed_up
from livehouse_bi.fct_watch w left join livehouse_bi.fct_signup s using (viewer_key)
where not w.is_test
group by w.access_source order by viewers desc, w.access_source collate "C"`,
    answer: ({ visits, signups }) => {
      const signed = new Set(signups.map(by.viewer))
      const perLink = groupBy(visits, ({ source }) => source).map(({ key, rows }) => {
        return [key, distinct(rows, by.viewer), distinct(rows, ({ viewer }) => (signed.has(viewer) ? viewer : null))]
      })
      return descending(perLink, 1)
    },
  },
  {
    title: 'Who gave the most in cash?',
    sql: `select viewer_key, count(*) as gifts, sum(cash_amount) as cash
from livehouse_bi.fct_gift
where is_cash and viewer_key is not null and not is_test
group by viewer_key order by cash desc nulls last, viewer_key limit 3`,
    answer: ({ gifts }) => {
      const cash = gifts.filter(({ row }) => row.gift_type === 'cash')
      const givers = groupBy(cash, by.viewer).map(({ key, rows }) => {
        const cents = sum(rows, ({ row }) => Math.round(Number(row.amount) * 100))
        return [key, rows.length, (cents / 100).toFixed(2)]
      })
      return descending(givers, 2).slice(0, 3)
    },
  },
  {
    title: 'How many of the viewers of a week came for the first time, and how many of them again a week later?',
    sql: `with read_weeks as (select channel_id, date_trunc('week', day)::date as week from livehouse_bi.daily_channel
  where is_watch_complete group by 1, 2 having count(*) = 7)
select cohort_week, sum(viewers) filter (where week_no = 0) as viewers,
  case when bool_and((channel_id, cohort_week + 7) in (select channel_id, week from read_weeks))
    then coalesce(sum(viewers) filter (where week_no = 1), 0) end as a_week_later
from livehouse_bi.viewer_cohort_week
where not is_test
group by cohort_week order by cohort_week`,
    answer: ({ visits }) => {
      const weeks = groupBy(visits, by.viewer).map(({ rows }) => rows.map(({ day }) => weekOf(day)).toSorted())
      return groupBy(weeks, ([first = '']) => first).map(({ key, rows }) => {
        const again = rows.filter((own) => own.includes(addDays(key, 7))).length
        return [key, rows.length, addDays(key, 13) < '2026-11-20' ? again : null]
      })
    },
  },
  {
    title: 'How many different viewers had each channel from 27 October to 11 November?',
    sql: `select channel_id, viewers
from livehouse_bi.viewers_between('2026-10-27', '2026-11-11')
where not is_test
order by channel_id`,
    answer: ({ visits }) =>
      groupBy(between(visits, '2026-10-27', '2026-11-11'), by.channel).map(({ key, rows }) => {
        return [key, distinct(rows, by.viewer)]
      }),
  },
]

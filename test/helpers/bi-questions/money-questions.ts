import { streams } from '../../../src/streams/registry.ts'
import { RETIRED } from './odd-rows.ts'
import { by, countBy, distinct, groupBy, type Question, sum } from './question.ts'
import { numberIn, type Owned, textIn } from './truth-facts.ts'

const cents = ({ row }: Owned) => Math.round(Number(row.amount) * 100)
const ofType = (gifts: readonly Owned[], type: string) => gifts.filter(({ row }) => row.gift_type === type)

/** The one question whose answers the operator has cleared. */
export const CLEARED = '感兴趣的话题'

/** Gifts, signups and the account. */
export const moneyQuestions: readonly Question[] = [
  {
    title: 'What was given to each channel?',
    sql: `select channel_id, sum(cash_gifts) as cash_gifts, sum(cash_amount) as cash, sum(prop_gifts) as props,
  sum(prop_amount) as prop_amount, min(currency) as currency
from livehouse_bi.daily_channel
where not is_test
group by channel_id order by channel_id`,
    answer: ({ gifts }) => {
      const read = groupBy(gifts, by.channel).map(({ key, rows }) => {
        const of = (type: string) =>
          [ofType(rows, type).length, (sum(ofType(rows, type), cents) / 100).toFixed(2)] as const
        return [key, ...of('cash'), ...of('prop'), 'CNY']
      })
      return [...read, [RETIRED, null, null, null, null, 'CNY']]
    },
  },
  {
    title: 'Which gifts are given most?',
    sql: `select d.gift_title, count(*) as gifts
from livehouse_bi.fct_gift f join livehouse_bi.dim_gift d using (gift_key)
where not f.is_test
group by d.gift_title order by gifts desc, d.gift_title limit 3`,
    answer: ({ gifts }) =>
      countBy(gifts, ({ row }) => `${textIn(row, 'gift_type')} ${textIn(row, 'gift_id')}`).slice(0, 3),
  },
  {
    title: 'For how many gifts do we know who gave them?',
    sql: `select match_basis, count(*) as gifts, count(distinct viewer_key) as viewers
from livehouse_bi.fct_gift
where not is_test
group by match_basis order by match_basis`,
    answer: ({ gifts }) =>
      groupBy(gifts, ({ match }) => match).map(({ key, rows }) => [key, rows.length, distinct(rows, by.viewer)]),
  },
  {
    title: 'How many signed up with each questionnaire, and how many of them watched a minute or more?',
    sql: `select q.channel_id, q.questionnaire_name, count(*) as signups, count(distinct s.viewer_key) as viewers,
  count(distinct s.viewer_key) filter (where v.watch_seconds >= 60) as watched
from livehouse_bi.fct_signup s join livehouse_bi.dim_questionnaire q using (questionnaire_key)
  left join livehouse_bi.dim_viewer v using (viewer_key)
where not s.is_test
group by q.questionnaire_key, q.channel_id, q.questionnaire_name order by q.channel_id, signups desc`,
    answer: ({ signups, viewers, truth }) => {
      const watched = new Set(viewers.filter(({ watch }) => watch >= 60).map(by.viewer))
      const nameOf = ({ row }: Owned) =>
        textIn(truth.questionnaires.find(({ question_id }) => question_id === row.question_id) ?? {}, 'name') ?? ''
      const perForm = groupBy(signups, (signup) => JSON.stringify([signup.channel, nameOf(signup)])).map(({ rows }) => {
        const [first] = rows
        const people = [...new Set(rows.map(({ viewer }) => viewer ?? ''))]
        const stayed = people.filter((viewer) => watched.has(viewer)).length
        return [first?.channel ?? '', first ? nameOf(first) : '', rows.length, people.length, stayed] as const
      })
      return perForm.toSorted((a, b) => Number(a[0]) - Number(b[0]) || b[2] - a[2])
    },
  },
  {
    title: 'What do people choose in a question that has been cleared for analysts?',
    sql: `select option, count(*) as times
from livehouse_bi.fct_signup_choice
where question = '${CLEARED}' and not is_test
group by option order by times desc, option collate "C" limit 5`,
    answer: ({ truth }) => {
      const options = truth.signup_answers
        .filter(({ question }) => question === CLEARED)
        .flatMap((row) => textIn(row, 'answer')?.split('||') ?? [])
      return countBy(options, (option) => option).slice(0, 5)
    },
  },
  {
    title: 'Which manager accounts consume the most, and what is their limit?',
    sql: `select username, watch_minutes, traffic_gb, case when is_unlimited then 'none' else cost_limit || ' ' || limit_unit end as "limit"
from livehouse_bi.fct_manager_usage
where day = (select max(day) from livehouse_bi.fct_manager_usage)
order by watch_minutes desc nulls last, username limit 3`,
    answer: ({ truth }) =>
      (truth.manager_usage ?? [])
        .toSorted((a, b) => numberIn(b, 'cost_total_watch') - numberIn(a, 'cost_total_watch'))
        .slice(0, 3)
        .map((row) => {
          const limit = `${textIn(row, 'cost_limit')} ${row.limit_type === 1 ? 'minutes' : 'GB'}`
          const usage = ['username', 'cost_total_watch', 'cost_transfer'].map((name) => textIn(row, name))
          return [...usage, row.cost_limit === '0' ? 'none' : limit]
        }),
  },
  {
    title: 'Up to which day is everything there?',
    sql: `select stream, case when bool_and(complete_through is not null) then min(complete_through) end as complete_through,
  sum(gap_count) as gaps, bool_and(is_proven) as is_proven
from livehouse_bi.freshness
where channel_id is null or channel_id in (select channel_id from livehouse_bi.dim_channel where is_active and not is_test)
group by stream order by stream collate "C"`,
    // Lists without a total have been read only once.
    answer: () =>
      streams
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, isCounted }) => [name, '2026-11-19', 0, `${isCounted}`]),
  },
  {
    title: "Do the service's own totals agree with its records?",
    sql: `select check_name, count(*) filter (where is_equal) as channels_equal, count(*) as channels
from livehouse_bi.reconciliation
where channel_id in (select channel_id from livehouse_bi.dim_channel where not is_test)
group by check_name order by check_name collate "C"`,
    answer: ({ truth: { channels } }) => {
      const checks = 'text_live text_replay viewer_live viewer_online viewer_replay viewer_visits viewer_watch'
      const names = checks.split(' ').map((check) => (check === 'viewer_visits' ? check : `${check}_seconds`))
      return names.map((name) => [name, channels.length, channels.length])
    },
  },
  {
    title: 'How many of those who give do so again?',
    sql: `select gifts, count(*) as viewers, round(sum(cash), 2) as cash
from (select viewer_key, count(*) as gifts, coalesce(sum(cash_amount), 0) as cash from livehouse_bi.fct_gift
  where viewer_key is not null and not is_test group by viewer_key) v
group by gifts order by gifts`,
    answer: ({ gifts }) => {
      return groupBy(groupBy(gifts, by.viewer), ({ rows }) => String(rows.length)).map(({ key, rows }) => {
        const given = rows.flatMap((giver) => giver.rows)
        return [key, rows.length, (sum(ofType(given, 'cash'), cents) / 100).toFixed(2)]
      })
    },
  },
  {
    title: 'How long after their first visit do viewers sign up?',
    sql: `select case when s.day < v.first_login_day then 'before it' when s.day = v.first_login_day then 'on the same day'
    when s.day < v.first_login_day + 7 then 'within a week' when s.day is not null then 'later'
    else 'at an unknown time' end as signed_up, count(*) as signups
from livehouse_bi.fct_signup s join livehouse_bi.dim_viewer v using (viewer_key)
where v.is_listed and v.first_login_day is not null and not s.is_test
group by signed_up order by min(s.day - v.first_login_day)`,
    answer: ({ signups, viewers }) => {
      const firstDay = new Map(viewers.map((viewer) => [viewer.viewer, Date.parse(viewer.firstDay)]))
      const days = signups.flatMap(({ viewer, day }) => {
        const first = firstDay.get(viewer ?? '')
        return first === undefined ? [] : [(Date.parse(day) - first) / 86_400_000]
      })
      const among = (from: number, to: number) => days.filter((each) => each >= from && each < to).length
      return [
        ['before it', among(-Infinity, 0)],
        ['on the same day', among(0, 1)],
        ['within a week', among(1, 7)],
        ['later', among(7, Infinity)],
        ['at an unknown time', days.filter(Number.isNaN).length],
      ].filter(([, count]) => count !== 0)
    },
  },
]

import { type BiColumns, type BiView, bigint, date, smallint, text } from '../view.ts'
import { ALL_TIME, type Figure, rowsOf } from './fragments/channel-figures.ts'
import { joinViewer } from './fragments/identity.ts'
import { toLocal } from './fragments/local-time.ts'
import { channelId, isTest } from './fragments/shared-columns.ts'

/** If a smaller share of the records can be matched, a number of viewers would mislead. */
const MIN_MATCHED = 0.8
const isUnmatched = `f.right_value > f.left_value * ${(1 - MIN_MATCHED).toFixed(1)}`

const watched = 'v.watch_seconds > 0'
const watchedMinute = 'v.watch_seconds >= 60'
const viewersOf = (isTaken: string) => `(v.user_id is not null and ${isTaken})::integer`

/** The steps: `within` names the step that contains it, `isTaken` is whether a viewer took it, `events` are counted. */
const steps = [
  { no: 1, name: 'visited', within: null, isTaken: 'true', events: 'v.visits' },
  { no: 2, name: 'watched', within: 'visited', isTaken: watched, events: viewersOf(watched) },
  { no: 3, name: 'watched_one_minute', within: 'watched', isTaken: watchedMinute, events: viewersOf(watchedMinute) },
  { no: 4, name: 'commented', within: 'visited', isTaken: 'v.comments > 0', events: 'v.comments' },
  { no: 5, name: 'signed_up', within: 'visited', isTaken: 'v.signups > 0', events: 'v.signups' },
  { no: 6, name: 'gave_gift', within: 'visited', isTaken: 'v.gifts > 0', events: 'v.gifts' },
] as const
type Step = (typeof steps)[number]

function funnelColumns(period: BiColumns): BiColumns {
  return {
    ...channelId('f.channel_id'),
    ...period,
    step_no: smallint('s.step_no::smallint', 'Number of the step, from 1', '步骤序号（从 1 起）'),
    step: text(
      's.step',
      'visited, watched, watched_one_minute, commented, signed_up or gave_gift',
      '步骤：visited、watched、watched_one_minute、commented、signed_up、gave_gift',
    ),
    viewers: bigint(
      `case when not ${isUnmatched} and not bool_or(f.item = 'visited' and ${isUnmatched})
        over (partition by f.channel_id, f.day) then f.number end`,
      'Distinct viewers of the first step who took this one; NULL if too few records of either step could be matched',
      '第一步的观众中到达该步的人数（去重）；该步或第一步的匹配率不足时为 NULL',
    ),
    visited_viewers: bigint(
      `max(f.number) filter (where f.item = 'visited') over (partition by f.channel_id, f.day)`,
      'Viewers of the first step, the base of shares',
      '第一步的观众数，用于计算占比',
    ),
    events: bigint(
      'f.left_value::bigint',
      'Visits, chat messages, signups or gifts of the step, by anybody; viewers if there is nothing else to count',
      '该步对应的访问、聊天、报名或礼物次数（无论何人）；没有可计的次数时为观众数',
    ),
    unmatched_events: bigint('f.right_value::bigint', 'Events without a known viewer', '其中未匹配的记录数'),
    within_step: text(
      's.within_step',
      'The step that all viewers of this one have also taken; other steps do not contain one another',
      '该步的观众必然已到达的步骤；其余步骤互不包含',
    ),
    ...isTest('f.channel_id'),
  }
}

/**
 * Counts each step among the viewers of the first. Reads tables, as the user that computes figures may lack rights on
 * views.
 * @param counted the steps
 * @param visitors a row for each viewer and period: channel, period, viewer, visits (never NULL), seconds watched,
 * comments
 * @param periodOf the period of an instant
 * @param channel condition on the channel
 */
function funnelOf(counted: readonly Step[], visitors: string, periodOf: (at: string) => string, channel: string) {
  const sums = counted.flatMap(({ no, isTaken, events }) => [
    `count(*) filter (where v.user_id is not null and v.visits is not null and ${isTaken}) as viewers_${no}`,
    `coalesce(sum(${events}), 0)::bigint as events_${no}`,
    `coalesce(sum(${events}) filter (where v.user_id is null), 0)::bigint as unmatched_${no}`,
  ])
  const rows = counted.map(({ no, name }) => `('${name}', p.viewers_${no}, p.events_${no}, p.unmatched_${no})`)
  const eventsOf = (table: string, id: string, at: string, counts: string) => `
              select channel_id, ${periodOf(at)}, ${id}, phone, ${counts} from livehouse.${table}
              where removed_at is null and ${periodOf(at)} is not null and channel_id ${channel}`
  return `(
    select p.channel_id, p.period as day, s.*
    from (
      select v.channel_id, v.period, ${sums.join(',\n        ')}
      from (
        select channel_id, period, user_id, v.visits, v.watch_seconds, v.comments, e.signups, e.gifts
        from (${visitors}) v (channel_id, period, user_id, visits, watch_seconds, comments)
        full join (
          select f.channel_id, f.period, coalesce(f.user_id, by_phone.user_id) as user_id,
            sum(f.signups) as signups, sum(f.gifts) as gifts
          from (${eventsOf('signups', 'user_id', 'signed_up_at', '1, 0')}
            union all ${eventsOf('gifts', 'visitor_id', 'given_at', '0, 1')}
          ) f (channel_id, period, user_id, phone, signups, gifts) ${joinViewer('f', 'user_id', channel)}
          group by 1, 2, 3
        ) e using (channel_id, period, user_id)
      ) v group by v.channel_id, v.period
    ) p
    cross join lateral (values ${rows.join(', ')}) s (item, number, left_value, right_value)
  )`
}

const monthOf = (at: string) => `date_trunc('month', ${toLocal(at)})::date`
const stepRows = steps.map(({ no, name, within }) => `(${no}, '${name}', ${within === null ? 'null' : `'${within}'`})`)
const withSteps = (funnel: string) => `from ${funnel} f
  join (values ${stepRows.join(', ')}) s (step_no, step, within_step) on s.step = f.item`

export const funnelSteps: Figure = {
  name: 'funnel_steps',
  sql: () =>
    `select f.day, f.item, f.number, f.left_value, f.right_value from ${funnelOf(
      steps,
      `select v.channel_id, ${ALL_TIME}, v.user_id, coalesce(v.visit_count, 0), v.watch_seconds, v.comment_count
          from livehouse.visitors v where v.channel_id = c.channel_id`,
      () => ALL_TIME,
      '= c.channel_id',
    )} f`,
}

export const viewerFunnel: BiView = {
  name: 'viewer_funnel',
  grain: {
    en: 'A step of the viewer funnel of a channel, over all time',
    zh: '频道观众漏斗的一步（全部时间）',
  },
  remarks: {
    en:
      'Counts the viewers that the visitor list has or had. visited, watched, watched_one_minute and commented ' +
      'come from that list; signed_up and gave_gift from records, which do not always name their viewer: ' +
      'unmatched_events counts those, and viewers is NULL if fewer than 80 % of the records could be matched to a ' +
      'viewer. What has not been read counts as none. within_step says which steps lie within one another.',
    zh:
      '统计访客列表现有或曾有的观众。visited、watched、watched_one_minute、commented 来自该列表；signed_up、gave_gift 来自记录，不一定能识别观众：' +
      '旁列 unmatched_events；可匹配的记录不足 80% 时 viewers 为 NULL。未读取的按没有计。步骤间的包含关系见 within_step。',
  },
  key: ['channel_id', 'step_no'],
  columns: funnelColumns({}),
  from: withSteps(rowsOf(funnelSteps)),
}

export const viewerFunnelMonth: BiView = {
  name: 'viewer_funnel_month',
  grain: { en: 'A step of the viewer funnel of a channel in a month', zh: '频道观众一个月漏斗的一步' },
  remarks: {
    en:
      'What viewers with a visit that began in the month did in it. All steps come from records, so commented is ' +
      'missing. Signups and gifts of others count as events, not as viewers of a step. Months without activity ' +
      'have no row.',
    zh: '统计当月有访问的观众在当月的行为，全部来自记录；聊天没有记录，故无 commented。其他人的报名与礼物计入 events，不计入 viewers。没有活动的月份没有行。',
  },
  key: ['channel_id', 'month_start', 'step_no'],
  columns: funnelColumns({ month_start: date('f.day', 'First day of the month', '当月第一天') }),
  from: withSteps(
    funnelOf(
      steps.filter(({ name }) => name !== 'commented'),
      `select channel_id, ${monthOf('entered_at')}, user_id, count(*), sum(watch_seconds), null::bigint
          from livehouse.watch_records where entered_at is not null group by 1, 2, 3`,
      monthOf,
      'is not null',
    ),
  ),
}

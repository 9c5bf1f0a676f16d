import { channelId } from './fragments/shared-columns.ts'
import { bigint, type BiView, smallint, text } from '../view.ts'

/** Below this share of matched records a number of viewers would mislead. */
const LEAST_MATCHED = 0.8

const ofVisitors = (no: number, step: string, filter: string, events: string) =>
  `select channel_id, ${no} as step_no, '${step}' as step, count(*) filter (where ${filter}) as viewers, ${events} as events, 0::bigint as unmatched
      from livehouse.visitors where removed_at is null group by channel_id`

const ofFacts = (no: number, step: string, view: string) =>
  `select c.channel_id, ${no}, '${step}', count(distinct f.viewer_key), count(f.channel_id), count(f.channel_id) filter (where f.viewer_key is null)
      from livehouse.channels c left join livehouse_bi.${view} f on f.channel_id = c.channel_id group by c.channel_id`

export const viewerFunnel: BiView = {
  name: 'viewer_funnel',
  grain: { en: 'A step of the way of the viewers of a channel, over all time', zh: '频道观众漏斗的一步（全部时间）' },
  remarks: {
    en:
      'visited, watched, watched_one_minute and commented are told by the visitor list; signed_up and gave_gift by records, which do not always say ' +
      'whose they are: unmatched_events stand beside, and viewers is NULL where fewer than 80 % of the records could be matched to a viewer.',
    zh: 'visited、watched、watched_one_minute、commented 来自访客列表；signed_up、gave_gift 来自记录，不一定能识别观众：旁列 unmatched_events；可匹配的记录不足 80% 时 viewers 为 NULL。',
  },
  key: ['channel_id', 'step_no'],
  columns: {
    ...channelId('f.channel_id'),
    step_no: smallint('f.step_no::smallint', 'Number of the step, from 1', '步骤序号（从 1 起）'),
    step: text(
      'f.step',
      'visited, watched, watched_one_minute, commented, signed_up or gave_gift',
      '步骤：visited、watched、watched_one_minute、commented、signed_up、gave_gift',
    ),
    viewers: bigint(
      `case when f.unmatched <= f.events * ${(1 - LEAST_MATCHED).toFixed(1)} then f.viewers end`,
      'Distinct viewers who took the step; NULL where too few records could be matched',
      '到达该步的观众数（去重）；匹配率不足时为 NULL',
    ),
    visited_viewers: bigint(
      'max(f.viewers) filter (where f.step_no = 1) over (partition by f.channel_id)',
      'Viewers of the first step, for shares',
      '第一步的观众数，用于计算占比',
    ),
    events: bigint(
      'f.events',
      'Visits, chat messages, signups or gifts behind the step; viewers where there is nothing to count',
      '该步对应的访问、聊天、报名或礼物次数',
    ),
    unmatched_events: bigint(
      'f.unmatched',
      'Of these, records that could not be matched to a viewer',
      '其中无法匹配到观众的记录数',
    ),
  },
  from: `from (
      ${[
        ofVisitors(1, 'visited', 'true', 'coalesce(sum(visit_count), 0)::bigint'),
        ofVisitors(2, 'watched', 'watch_seconds > 0', 'count(*) filter (where watch_seconds > 0)'),
        ofVisitors(3, 'watched_one_minute', 'watch_seconds >= 60', 'count(*) filter (where watch_seconds >= 60)'),
        ofVisitors(4, 'commented', 'comment_count > 0', 'coalesce(sum(comment_count), 0)::bigint'),
        ofFacts(5, 'signed_up', 'fct_signup'),
        ofFacts(6, 'gave_gift', 'fct_gift'),
      ].join('\n      union all\n      ')}
  ) f`,
}

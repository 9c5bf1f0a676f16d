import { figureOf, kept } from './fragments/channel-figures.ts'
import { local } from './fragments/local-time.ts'
import { channelId, isTest } from './fragments/shared-columns.ts'
import { bigint, type BiView, date, integer } from '../view.ts'

/** One row for each viewer, in the order of the index by viewer and entry: a million visits are not sorted. */
export const cohortWeeks = figureOf(
  'cohort_weeks',
  `select v.cohort_week, ((w.week - v.cohort_week) / 7)::text, count(*),
      max(count(*)) over (partition by v.cohort_week), null::numeric
    from (
      select min(week) as cohort_week, array_agg(distinct week) as weeks
      from (
        select user_id, date_trunc('week', ${local('entered_at')})::date as week
        from livehouse.watch_records where channel_id = c.channel_id and entered_at is not null and user_id is not null
      ) d group by user_id
    ) v cross join lateral unnest(v.weeks) w (week) group by v.cohort_week, w.week`,
)

export const viewerCohortWeek: BiView = {
  name: 'viewer_cohort_week',
  grain: {
    en: 'A week in which viewers of a channel came who had first come in the same week',
    zh: '同一周首次到访的频道观众再次到访的一周',
  },
  remarks: {
    en:
      'By the records: who came before the history that is kept counts as new in its first week. Weeks in which ' +
      'none of them came have no row.',
    zh: '以观看记录为准：早于历史范围到访的观众计为首周的新观众。无人再次到访的周没有行。',
  },
  key: ['channel_id', 'cohort_week', 'week_no'],
  columns: {
    ...channelId('c.channel_id'),
    cohort_week: date('c.day', 'Monday of the week of the first visit', '首次到访所在周的周一'),
    week_no: integer('c.item::integer', 'Weeks since, from 0', '其后的周数（从 0 起）'),
    viewers: bigint('c.number', 'Distinct viewers of the cohort who came then', '该批观众中当周到访的人数'),
    cohort_viewers: bigint('c.left_value::bigint', 'Viewers of the cohort, for shares', '该批观众总数，用于计算占比'),
    ...isTest('c.channel_id'),
  },
  from: `from ${kept(cohortWeeks)} c`,
}

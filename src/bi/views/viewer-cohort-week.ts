import { figureOf, kept } from './fragments/channel-figures.ts'
import { localDay } from './fragments/local-time.ts'
import { channelId, isTest } from './fragments/shared-columns.ts'
import { bigint, type BiView, date, integer } from '../view.ts'

const day = localDay('entered_at')
/** Its Monday, by plain numbers: a tenth of the time of `date_trunc`. */
const week = `d.day - (d.day - date '0001-01-01') % 7`
const month = `date_trunc('month', d.day::timestamp)::date`

/**
 * How many viewers came in a week, by their first week (with how many these are, in `left_value`), and in a month, by
 * the month in which they had come before. In the order of the index by viewer and entry: visits are not sorted.
 */
export const returns = figureOf(
  'returns',
  `select r.day, coalesce(to_char(r.other, 'YYYY-MM-DD'), ''), count(*),
      case when r.is_week then max(count(*)) over (partition by r.is_week, r.day) end, null::numeric
    from (
      select ${week} as week, ${month} as month, first_value(${week}) over visits as first_week,
        lag(${week}) over visits as week_before, lag(${month}) over visits as month_before
      from (
        select user_id, entered_at, ${day} as day from livehouse.watch_records
        where channel_id = c.channel_id and entered_at is not null and user_id is not null
        order by user_id, entered_at
      ) d window visits as (partition by d.user_id order by d.entered_at rows unbounded preceding)
    ) w cross join lateral (values
      (true, w.first_week, w.week, w.week_before is distinct from w.week),
      (false, w.month, w.month_before, w.month_before is distinct from w.month)
    ) r (is_week, day, other, is_first) where r.is_first group by r.is_week, r.day, r.other`,
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
    week_no: integer(`(nullif(c.item, '')::date - c.day) / 7`, 'Weeks since, from 0', '其后的周数（从 0 起）'),
    viewers: bigint('c.number', 'Distinct viewers of the cohort who came then', '该批观众中当周到访的人数'),
    cohort_viewers: bigint('c.left_value::bigint', 'Viewers of the cohort, for shares', '该批观众总数，用于计算占比'),
    ...isTest('c.channel_id'),
  },
  from: `from ${kept(returns)} c where c.left_value is not null`,
}

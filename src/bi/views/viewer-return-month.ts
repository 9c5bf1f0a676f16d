import { type BiView, bigint, date } from '../view.ts'
import { rowsOf } from './fragments/channel-figures.ts'
import { channelId, isTest } from './fragments/shared-columns.ts'
import { viewerReturns } from './viewer-cohort-week.ts'

export const viewerReturnMonth: BiView = {
  name: 'viewer_return_month',
  grain: {
    en: 'The viewers of a channel in a month, by the last earlier month in which they came',
    zh: '频道一个月的观众，按其上一次到访的月份分组',
  },
  remarks: {
    en:
      'The exact number of distinct viewers of the months a to b, without reading every visit: sum(viewers) where ' +
      'month_start between a and b and (previous_month is null or previous_month < a). By the watch records: ' +
      'viewers from before the stored history count as new.',
    zh:
      '任意月份 a 至 b 的去重观众数（精确，无需遍历访问）：sum(viewers)，条件为 month_start between a and b 且 ' +
      '(previous_month is null or previous_month < a)。以观看记录为准，早于历史范围到访的观众计为新观众。',
  },
  key: ['channel_id', 'month_start', 'previous_month'],
  columns: {
    ...channelId('m.channel_id'),
    month_start: date('m.day', 'First day of the month', '当月第一天'),
    previous_month: date(
      `nullif(m.item, '')::date`,
      'First day of the last earlier month in which they came; NULL if there is none',
      '此前最近一次到访所在月份的第一天；没有则为 NULL',
    ),
    viewers: bigint('m.number', 'Distinct viewers', '观众数（去重）'),
    ...isTest('m.channel_id'),
  },
  from: `from ${rowsOf(viewerReturns)} m where m.left_value is null`,
}

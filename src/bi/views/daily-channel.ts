import { audiencePeak } from './fragments/audience.ts'
import { channelCoverage, holdsDay } from './fragments/coverage.ts'
import { duration, localDay } from './fragments/local-time.ts'
import { channelId } from './fragments/shared-columns.ts'
import { type BiColumn, bigint, type BiView, bool, date, numeric, text } from '../view.ts'

/** What each source adds to a channel's day; what it does not name is nothing. */
const sources: readonly { readonly sums: Readonly<Record<string, string>>; readonly from: string }[] = [
  {
    sums: {
      viewers: 'count(x.user_id)',
      watched_viewers: 'count(x.user_id) filter (where x.watch_seconds > 0)',
      viewers_over_one_minute: 'count(x.user_id) filter (where x.watch_seconds >= 60)',
      live_viewers: 'count(x.user_id) filter (where x.live_seconds > 0)',
      sessions: 'sum(x.sessions)::bigint',
      watched_sessions: 'sum(x.watched_sessions)::bigint',
      watch_seconds: 'sum(x.watch_seconds)::bigint',
      live_seconds: 'sum(x.live_seconds)::bigint',
      replay_seconds: 'sum(x.replay_seconds)::bigint',
    },
    from: `(
        select ${localDay('entered_at')} as day, channel_id, user_id, count(*) as sessions,
          count(*) filter (where watch_seconds > 0) as watched_sessions, coalesce(sum(watch_seconds), 0) as watch_seconds,
          coalesce(sum(live_seconds), 0) as live_seconds, coalesce(sum(vod_seconds), 0) as replay_seconds
        from livehouse.watch_records where entered_at is not null group by 1, 2, 3
      )`,
  },
  {
    sums: { new_viewers: 'count(*)' },
    from: `(
        select ${localDay('first_login_at')} as day, channel_id
        from livehouse.visitors where first_login_at is not null and removed_at is null
      )`,
  },
  {
    sums: {
      cash_gifts: `count(*) filter (where x.gift_type = 'cash')`,
      cash_amount: `coalesce(sum(x.amount) filter (where x.gift_type = 'cash'), 0)`,
      prop_gifts: `count(*) filter (where x.gift_type = 'prop')`,
      prop_amount: `coalesce(sum(x.amount) filter (where x.gift_type = 'prop'), 0)`,
    },
    from: `(
        select ${localDay('given_at')} as day, channel_id, gift_type, amount
        from livehouse.gifts where given_at is not null and removed_at is null
      )`,
  },
  {
    sums: { signups: 'count(*)' },
    from: `(
        select ${localDay('signed_up_at')} as day, channel_id
        from livehouse.signups where signed_up_at is not null and removed_at is null
      )`,
  },
]

const measures = sources.flatMap(({ sums }) => Object.keys(sums))
const amounts: ReadonlySet<string> = new Set(['cash_amount', 'prop_amount'])

function armOf({ sums, from }: (typeof sources)[number]): string {
  const columns = measures.map((name) => `${sums[name] ?? '0'} as ${name}`)
  return `select x.channel_id, x.day, ${columns.join(', ')}\n      from ${from} x group by x.channel_id, x.day`
}

const totals = measures.map((name) => `sum(u.${name})${amounts.has(name) ? '' : '::bigint'} as ${name}`)

const count = (name: string, en: string, zh: string): Readonly<Record<string, BiColumn>> => ({
  [name]: bigint(`d.${name}`, en, zh),
})

/** Day by day, so that a filter on days reaches it; Postgres leaves it out where nobody asks for a peak. */
const peaks = `left join lateral ${audiencePeak('d.channel_id', 'd.day')} p on true`

const isWatchComplete = holdsDay('c.watch_covers', 'd.day')
const isGiftComplete = holdsDay('c.gift_covers', 'd.day')
const isSignupComplete = holdsDay('c.signup_covers', 'd.day')
const isViewerComplete = `coalesce(c.viewers_read_at >= ((d.day + 1)::timestamp at time zone '{zone}'), false)`

export const dailyChannel: BiView = {
  name: 'daily_channel',
  grain: {
    en: 'A channel on a day on which a visit began, a viewer was new, or something was given or signed up for',
    zh: '频道有访问开始、新观众、礼物或报名的一天',
  },
  remarks: {
    en:
      'Sums that can be added up over days and channels, except viewers (a viewer of two days counts on both: use fct_viewer_day) and ' +
      'peaks. Numerators and denominators, no ratios. Gifts and signups that the service no longer has are left out.',
    zh: '可按日期和频道相加；但观众数（跨日会重复计，去重请用 fct_viewer_day）和峰值不可相加。只给分子分母，不给比率。服务端已不存在的礼物与报名不计入。',
  },
  key: ['channel_id', 'day'],
  columns: {
    ...channelId('d.channel_id'),
    day: date('d.day', 'Day of the service; joins dim_date', '日期，关联 dim_date'),
    ...count('viewers', 'Distinct viewers who entered', '进入的观众数（去重）'),
    ...count(
      'new_viewers',
      'Viewers whose first entry, by the visitor list, was on the day',
      '首次进入的观众数（以访客列表为准）',
    ),
    ...count('watched_viewers', 'Distinct viewers who watched anything', '有观看的观众数（去重）'),
    ...count(
      'viewers_over_one_minute',
      'Distinct viewers who watched a minute or more in all',
      '累计观看满一分钟的观众数（去重）',
    ),
    ...count('live_viewers', 'Distinct viewers who watched live', '观看直播的观众数（去重）'),
    ...count('sessions', 'Visits that began on the day', '当日开始的访问次数'),
    ...count('watched_sessions', 'Visits in which anything was watched', '有观看的访问次数'),
    ...duration('watch', bigint('d.watch_seconds', 'Watched, in seconds', '观看时长（秒）')),
    ...duration('live', bigint('d.live_seconds', 'Watched live, in seconds', '直播观看时长（秒）')),
    ...duration('replay', bigint('d.replay_seconds', 'Watched on demand, in seconds', '点播观看时长（秒）')),
    estimated_peak_live_viewers: bigint(
      'coalesce(p.live_viewers, 0)',
      'Largest estimated_live_viewers of a minute of the day (fct_audience_minute)',
      '当日各分钟直播在线人数估计的最大值（见 fct_audience_minute）',
    ),
    estimated_peak_viewers: bigint(
      'coalesce(p.viewers, 0)',
      'Largest estimated_all_viewers of a minute of the day (fct_audience_minute)',
      '当日各分钟在线人数估计的最大值（见 fct_audience_minute）',
    ),
    ...count('cash_gifts', 'Cash rewards', '现金打赏次数'),
    cash_amount: numeric('d.cash_amount', 'Sum of the cash rewards', '现金打赏金额'),
    ...count('prop_gifts', 'Props', '道具次数'),
    prop_amount: numeric('d.prop_amount', 'Sum of the props', '道具金额'),
    currency: text('s.currency', 'Currency that the operator names (LIVEHOUSE_CURRENCY)', '币种（LIVEHOUSE_CURRENCY）'),
    ...count('signups', 'Signups', '报名次数'),
    is_watch_complete: bool(
      isWatchComplete,
      'Whether the watch records of the whole day have been read',
      '当日观看记录是否已完整读取',
    ),
    is_viewer_complete: bool(
      isViewerComplete,
      'Whether the visitor list has been read since the day ended',
      '当日结束后是否已读取访客列表',
    ),
    is_gift_complete: bool(
      isGiftComplete,
      'Whether the gifts of the whole day have been read',
      '当日礼物是否已完整读取',
    ),
    is_signup_complete: bool(
      isSignupComplete,
      'Whether the signups of the whole day have been read',
      '当日报名是否已完整读取',
    ),
    is_complete: bool(
      `${isWatchComplete} and ${isViewerComplete} and ${isGiftComplete} and ${isSignupComplete}`,
      'Whether everything of the whole day has been read',
      '当日全部数据是否已完整读取',
    ),
    is_final: bool(
      ['watch', 'gift', 'signup'].map((part) => holdsDay(`c.${part}_settled`, 'd.day')).join(' and '),
      'Whether it was read when it no longer changed (older than the lookback)',
      '是否已过回看期、不再变化',
    ),
  },
  from: `from (
    select u.channel_id, u.day, ${totals.join(', ')}
    from (
      ${sources.map(armOf).join('\n      union all\n      ')}
    ) u group by u.channel_id, u.day
  ) d
  left join livehouse_ops.bi_settings s on true
  left join ${channelCoverage} c on c.channel_id = d.channel_id
  ${peaks}`,
}

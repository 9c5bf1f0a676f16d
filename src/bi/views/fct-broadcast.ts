import { type BiColumns, type BiView, bigint, bool, date, instant, numeric, text } from '../view.ts'
import { broadcastKey, broadcasts, visitsOfBroadcast } from './fragments/broadcasts.ts'
import { duration, localDay, moment, toLocal } from './fragments/local-time.ts'
import { bareLink, personalColumn } from './fragments/masks.ts'
import { province } from './fragments/places.ts'
import { channelId, currency, isTest } from './fragments/shared-columns.ts'

const start = 'to_timestamp(b.from_no)'
const end = 'to_timestamp(b.to_no)'

/** The key, the channel and the day of a broadcast `b`. */
export const broadcastColumns: BiColumns = {
  broadcast_key: text(broadcastKey, 'Broadcast; joins fct_broadcast', '场次，关联 fct_broadcast'),
  ...channelId('b.channel_id'),
  day: date(localDay(start), 'Day on which it began; joins dim_date', '开始日期，关联 dim_date'),
}

/** Sums over the gifts `g` during a broadcast; NULL if there is none. */
export const giftSums = `
      nullif(count(*) filter (where g.is_cash), 0) as cash_gifts, sum(g.cash_amount) as cash_amount,
      nullif(count(*) filter (where not g.is_cash), 0) as prop_gifts, sum(g.prop_amount) as prop_amount`

/** Whether the broadcast `b` ran at an instant. */
export const isDuring = (at: string) => `${at} >= ${start} and ${at} < ${end}`

/** Live seconds of visits `w`, each at most as long as its stay; NULL if unknown (version 1 of the interface). */
export const liveSum = 'sum(least(w.live_seconds, w.to_no - w.from_no)) filter (where w.live_seconds is not null)'

/** Whether ranges of local time contain the broadcast. Computes each end from the other too: clocks may be set back. */
const covers = (ranges: string, since = `least(${toLocal(start)}, ${toLocal(end)} - (${end} - ${start}))`) =>
  `coalesce(${ranges} @> tsrange(${since}, greatest(${toLocal(end)}, ${toLocal(start)} + (${end} - ${start}))), false)`

/** The start of the day before the broadcast: its visits began then or later. */
const visitsSince = `(${localDay(start)} - 1)::timestamp`

/** A measure: 0 if its ranges were read and had none, NULL if unknown. @param counted a count, NULL if there is none */
const orZero = (measure: string, ranges: string, counted = measure) =>
  `coalesce(${measure}, case when ${counted} is null and ${covers(ranges)} then 0 end)`

/** Columns from `giftSums` as `g`, and the coverage of the channel as `c`. */
export const giftColumns: BiColumns = {
  cash_gifts: bigint(orZero('g.cash_gifts', 'c.gift_covers'), 'Cash rewards during it', '期间的现金打赏次数'),
  cash_amount: numeric(orZero('g.cash_amount', 'c.gift_covers', 'g.cash_gifts'), 'Sum of the cash rewards', '现金金额'),
  prop_gifts: bigint(orZero('g.prop_gifts', 'c.gift_covers'), 'Props during it', '期间的道具次数'),
  prop_amount: numeric(orZero('g.prop_amount', 'c.gift_covers', 'g.prop_gifts'), 'Sum of the props', '道具金额'),
}

/** Columns from the signups during the broadcast as `u`, and the coverage of the channel as `c`. */
export const signupColumns: BiColumns = {
  signups: bigint(orZero('u.signups', 'c.signup_covers'), 'Signups during it', '期间的报名次数'),
}

export const fctBroadcast: BiView = {
  name: 'fct_broadcast',
  grain: { en: 'A broadcast of a channel', zh: '频道的一场直播' },
  remarks: {
    en:
      'An estimate, as the service reports no broadcasts: a visit that was live for at least half of its stay, and ' +
      'stayed for at most a day, counts as live from entry for its live seconds. Live visits that overlap or ' +
      'follow within 30 minutes (LIVEHOUSE_BROADCAST_GAP) are one broadcast; one shorter than 10 minutes ' +
      '(LIVEHOUSE_BROADCAST_MIN) is left out. Its visits are all that were present during it, live or not, and ' +
      'began on its days or the day before, each cut at its ends. New viewers, gifts and signups are 0 if they ' +
      'have been read and there were none, and NULL if that is unknown.',
    zh:
      '服务端不提供开播时间，此为估算：直播秒数占在场时长一半以上且在场不超过一天的访问，自进入起按直播秒数计为直播；重叠或间隔不超过 30 分钟（LIVEHOUSE_BROADCAST_GAP）的合为一场，' +
      '不足 10 分钟（LIVEHOUSE_BROADCAST_MIN）的不计。其访问为期间在线、当日或前一日开始的全部访问，按场次起止截取。新观众、礼物与报名：已读取而没有的为 0，未知为 NULL。',
  },
  key: ['broadcast_key'],
  columns: {
    ...broadcastColumns,
    ...moment('started', instant(start, 'When it began, by the first live visit', '开始时刻（首个直播访问）')),
    ...moment('ended', instant(end, 'When it ended', '结束时刻')),
    ...duration('broadcast', bigint('b.to_no - b.from_no', 'Duration in seconds', '场次时长（秒）')),
    visits: bigint('v.visits', 'Visits', '访问次数'),
    viewers: bigint('v.viewers', 'Distinct viewers', '观众数（去重）'),
    new_viewers: bigint(
      `case when v.new_viewers > 0 or c.viewers_read_at >= ${end} then v.new_viewers end`,
      'New viewers, by the visitor list',
      '新观众数（以访客列表为准）',
    ),
    estimated_peak_live_viewers: bigint('p.viewers', 'Most simultaneous live visits', '同时直播在线的最大访问数'),
    ...moment('peak', instant('to_timestamp(p.no)', 'When the peak was first reached', '首次达到该值的时刻')),
    ...duration(
      'average_stay',
      bigint(
        '(v.stay_seconds / nullif(v.viewers, 0))::bigint',
        'Time of visits that name a viewer ÷ viewers, in seconds; simultaneous visits of one viewer add up',
        '访问在场时长之和除以观众数（秒）；同一观众的重叠访问累加',
      ),
    ),
    ...duration('live', bigint('v.live_seconds::bigint', 'Live watch time in seconds', '直播观看时长（秒）')),
    ...duration('replay', bigint('v.replay_seconds::bigint', 'On-demand watch time in seconds', '点播观看时长（秒）')),
    ...giftColumns,
    currency,
    ...signupColumns,
    top_access_source: personalColumn(
      'access_source',
      text('v.access_source', 'Most frequent link of the visits, without query', '最多访问的来源（不含查询参数）'),
    ),
    top_device: text('v.device', 'Most frequent device of the visits', '最多访问的设备'),
    top_province: text('v.province', 'Most frequent province of the visits', '最多访问的省份'),
    is_complete: bool(
      covers('c.watch_covers', visitsSince),
      'Whether all records since the day before have been read',
      '记录（自前一日起）是否已完整读取',
    ),
    is_final: bool(covers('c.watch_settled', visitsSince), 'Whether these no longer change', '是否不再变化'),
    ...isTest('b.channel_id'),
  },
  // Each part is a join of its own, so that Postgres leaves out those that a query does not need. Gifts and signups
  // come from their tables: their views match phones with viewers, which Postgres would do for each broadcast.
  from: `from ${broadcasts} b left join livehouse_ops.bi_settings s on true
  left join livehouse_ops.channel_coverage c on c.channel_id = b.channel_id
  left join lateral (
    select count(*) as visits, count(distinct w.user_id) as viewers,
      count(distinct w.user_id) filter (where ${isDuring('f.first_login_at')}) as new_viewers,
      sum(w.to_no - w.from_no) filter (where w.user_id is not null) as stay_seconds,
      ${liveSum} as live_seconds, sum(w.vod_seconds) as replay_seconds,
      mode() within group (order by w.device) as device,
      mode() within group (order by ${bareLink('w.access_source')}) as access_source,
      mode() within group (order by ${province('w.address')}) as province
    from (select w.*, t.* from ${visitsOfBroadcast}) w
    left join livehouse.visitors f on f.channel_id = w.channel_id and f.user_id = w.user_id
  ) v on true
  left join lateral (
    select max(x.viewers) as viewers, (array_agg(x.no order by x.viewers desc, x.no))[1] as no
    from (
      select c.no, sum(c.change) over (order by c.no, c.change rows unbounded preceding) as viewers
      from (select w.live_seconds, t.* from ${visitsOfBroadcast}) w
      cross join lateral (values (w.from_no, 1), (w.to_no, -1)) c (no, change)
      where w.live_seconds > 0
    ) x
  ) p on true
  left join lateral (
    select ${giftSums} from (
      select g.*, g.gift_type = 'cash' as is_cash, case when g.gift_type = 'cash' then g.amount end as cash_amount,
        case when g.gift_type <> 'cash' then g.amount end as prop_amount
      from livehouse.gifts g where g.removed_at is null
    ) g where g.channel_id = b.channel_id and ${isDuring('g.given_at')}
  ) g on true
  left join lateral (
    select nullif(count(*), 0) as signups from livehouse.signups s
    where s.channel_id = b.channel_id and ${isDuring('s.signed_up_at')} and s.removed_at is null
  ) u on true`,
}

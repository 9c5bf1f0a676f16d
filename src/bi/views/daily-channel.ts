import assert from 'node:assert/strict'
import { type BiColumns, type BiView, bigint, bool, date, numeric } from '../view.ts'
import { channelDays, entryDays, measures as watchMeasures } from './fragments/channel-days.ts'
import { type Figure, rowsOf } from './fragments/channel-figures.ts'
import { duration, holdsDay, localDay } from './fragments/local-time.ts'
import { channelId, currency, isTest } from './fragments/shared-columns.ts'

/** Viewers whose first visit, by the visitor list, was on the day. */
export const newViewers: Figure = {
  name: 'new_viewers',
  sql: (dayOf) => `select ${dayOf('first_login_at')}, '', count(*), null::numeric, null::numeric
    from livehouse.visitors where channel_id = c.channel_id and first_login_at is not null group by 1`,
}
const firstDays = rowsOf(newViewers)

/** Gifts by type, for the days that have any. */
export const dailyGifts: Figure = {
  name: 'gifts',
  sql: (dayOf) => `select ${dayOf('given_at')}, gift_type, count(*), sum(amount), null::numeric
    from livehouse.gifts
    where channel_id = c.channel_id and given_at is not null and removed_at is null group by 1, 2`,
}

export const dailySignups: Figure = {
  name: 'signups',
  sql: (dayOf) => `select ${dayOf('signed_up_at')}, '', count(*), null::numeric, null::numeric
    from livehouse.signups
    where channel_id = c.channel_id and signed_up_at is not null and removed_at is null group by 1`,
}

/** The measures that come from one relation; NULL for a day that it lacks. */
interface Source {
  readonly sums: Readonly<Record<string, string>>
  /** The count that is not NULL if a row of the given measure exists; by default the first measure. */
  readonly counterOf?: (measure: string) => string
  readonly from: string
  /** A condition on its rows, those that give the channel a day in the view; by default all do. */
  readonly isDay?: string
  /** Whether the day has been read in full: then a missing measure is 0. */
  readonly isComplete: string
}

const sources: Readonly<Record<'watch' | 'viewer' | 'gift' | 'signup', Source>> = {
  watch: {
    sums: Object.fromEntries(watchMeasures.map((name) => [name, `x.${name}`])),
    from: channelDays,
    isDay: 'x.visits is not null',
    isComplete: holdsDay('c.watch_covers', 'd.day'),
  },
  viewer: {
    sums: { new_viewers: 'x.number' },
    from: firstDays,
    // The visitor list has been read since the day ended.
    isComplete: `coalesce(c.viewers_read_at >= ((d.day + 1)::timestamp at time zone '{zone}'), false)`,
  },
  gift: {
    sums: {
      cash_gifts: `case when x.item = 'cash' then x.number end`,
      cash_amount: `case when x.item = 'cash' then x.left_value end`,
      prop_gifts: `case when x.item = 'prop' then x.number end`,
      prop_amount: `case when x.item = 'prop' then x.left_value end`,
    },
    counterOf: (measure) => measure.replace('_amount', '_gifts'),
    from: rowsOf(dailyGifts),
    isComplete: holdsDay('c.gift_covers', 'd.day'),
  },
  signup: {
    sums: { signups: 'x.number' },
    from: rowsOf(dailySignups),
    isComplete: holdsDay('c.signup_covers', 'd.day'),
  },
}

/**
 * Every day of a channel, within dim_date, from its first entry (in the visitor list or a watch record) to today or to
 * its `read_until`; of a channel that is no longer read, to its last entry or the last time that anybody was online. An
 * entry over a year before the next one, or before today, is not the first: a wrong clock would make thousands of days.
 */
const dateSpine = `(
        select c.channel_id, f.first_day + n as day
        from livehouse.channels c
        join (
          select channel_id, min(day) filter (where gap <= 366) as first_day,
            max(day) filter (where gap >= 0) as last_day from (
            select channel_id, day, least(lead(day) over (partition by channel_id order by day),
              ${localDay('now()')}) - day as gap
            from (select channel_id, day from ${firstDays} n union select channel_id, day from ${entryDays} d) d
          ) d group by channel_id
        ) f on f.channel_id = c.channel_id
        cross join lateral generate_series(greatest(0, date '2010-01-01' - f.first_day),
          least(${localDay('now()')}, c.read_until, case when c.state <> 'active' then greatest(f.last_day, (
            select ${localDay('max(v.last_online_at)')} from livehouse.visitors v where v.channel_id = c.channel_id
          )) end) - f.first_day) n
      )`

const allSources = Object.values(sources)
const measures = allSources.flatMap(({ sums }) => Object.keys(sums))
const typeOf = (measure: string) => (measure.endsWith('_amount') ? 'numeric' : 'bigint')

function branchOf({ from, sums, isDay }: Omit<Source, 'isComplete'>): string {
  const columns = measures.map((name) => `${sums[name] ?? `null::${typeOf(name)}`} as ${name}`)
  return `select x.channel_id, x.day, ${isDay ?? 'true'} as is_day, ${columns.join(', ')} from ${from} x`
}

const branches = [{ from: dateSpine, sums: {} }, ...allSources].map(branchOf)
// Each measure comes from one source, once a day: `max` only merges the rows.
const totals = measures.map((name) => `max(u.${name}) as ${name}`)

/** A measure: 0 if its day has been read in full and has none of it; NULL if it is not known. */
function orZero(name: string): string {
  const entry = Object.entries(sources).find(([, { sums }]) => name in sums)
  assert(entry !== undefined, `no source has ${name}`)
  const [part, source] = entry
  const counter = source.counterOf?.(name) ?? Object.keys(source.sums)[0]
  return `coalesce(d.${name}, case when k.${part} and d.${counter} is null then 0 end)`
}

/** A peak: 0 if nobody was there; NULL if no visit has the times that it needs, or the day before was not read. */
const peakOrZero = (name: string, isNone: string) =>
  `case when k.before then coalesce(d.${name}, case when ${isNone} then 0 end) end`

const count = (name: string, en: string, zh: string): BiColumns => ({
  [name]: bigint(orZero(name), en, zh),
})

/** Evaluated once a day, not once a measure: `offset 0` keeps Postgres from copying it into each of them. */
const completeness = `cross join lateral (
    select ${Object.entries(sources)
      .map(([part, { isComplete }]) => `${isComplete} as ${part}`)
      .join(', ')}, ${holdsDay('c.watch_covers', '(d.day - 1)')} as before offset 0
  ) k`

export const dailyChannel: BiView = {
  name: 'daily_channel',
  grain: {
    en: 'A channel on a day, even without activity, from its first entry to today (if no longer read, to its last)',
    zh: '频道的一天：自首次进入至今（不再读取的至最后一次），无活动的日子也在内',
  },
  remarks: {
    en:
      'Sums that can be added up over days and channels, except viewers (a viewer of two days counts on both: use ' +
      'fct_viewer_day) and peaks; numerators and denominators, no ratios. A measure is 0 if its day was read in ' +
      'full and had none, and NULL if unknown: the day was not read in full, or no visit gives the value (version ' +
      '1 of the interface has no live seconds). If only some visits give it, only they count. Gifts and signups ' +
      'that the service no longer has are left out; a viewer who has left the list stays new on the entry day.',
    zh:
      '可按日期和频道相加；但观众数（跨日会重复计，去重请用 fct_viewer_day）和峰值不可相加。只给分子分母，不给比率。已完整读取而没有发生的为 0；未完整读取，' +
      '或当日访问均未提供时（接口第 1 版无直播秒数）为 NULL；仅部分访问提供时只计这些访问。服务端已不存在的礼物与报名不计入；已离开访客列表的观众仍计为其首次进入日的新观众。',
  },
  key: ['channel_id', 'day'],
  columns: {
    ...channelId('d.channel_id'),
    day: date('d.day', 'Day of the service; joins dim_date', '日期，关联 dim_date'),
    ...count('viewers', 'Distinct viewers who entered', '进入的观众数（去重）'),
    ...count('new_viewers', 'New viewers, by the first entry in the visitor list', '新观众数（以访客列表为准）'),
    ...count('watched_viewers', 'Distinct viewers who watched anything', '有观看的观众数（去重）'),
    ...count('viewers_over_one_minute', 'Distinct viewers who watched a minute or more', '累计观看满一分钟的观众数'),
    ...count('live_viewers', 'Distinct viewers who watched live', '观看直播的观众数（去重）'),
    sessions: bigint(orZero('visits'), 'Old name of visits', '同 visits（旧名）'),
    watched_sessions: bigint(orZero('watched_visits'), 'Old name of watched_visits', '同 watched_visits（旧名）'),
    ...duration('watch', bigint(orZero('watch_seconds'), 'Watch time in seconds', '观看时长（秒）')),
    ...duration('live', bigint(orZero('live_seconds'), 'Live watch time in seconds', '直播观看时长（秒）')),
    ...duration('replay', bigint(orZero('replay_seconds'), 'On-demand watch time in seconds', '点播观看时长（秒）')),
    estimated_peak_live_viewers: bigint(
      peakOrZero('peak_live_viewers', `coalesce(d.peak_viewers, ${orZero('live_seconds')}) = 0`),
      'Largest estimated_live_viewers of the minutes (fct_audience_minute); NULL if the day before was not read',
      '当日各分钟直播在线人数估计的最大值（见 fct_audience_minute）；前一日未读取时为 NULL',
    ),
    estimated_peak_viewers: bigint(
      peakOrZero('peak_viewers', `${orZero('visits')} = 0`),
      'Largest estimated_all_viewers of the minutes (fct_audience_minute); NULL if the day before was not read',
      '当日各分钟在线人数估计的最大值（见 fct_audience_minute）；前一日未读取时为 NULL',
    ),
    ...count('cash_gifts', 'Cash rewards', '现金打赏次数'),
    cash_amount: numeric(orZero('cash_amount'), 'Sum of the cash rewards', '现金打赏金额'),
    ...count('prop_gifts', 'Props', '道具次数'),
    prop_amount: numeric(orZero('prop_amount'), 'Sum of the props', '道具金额'),
    currency,
    ...count('signups', 'Signups', '报名次数'),
    is_watch_complete: bool('k.watch', 'Whether all watch records have been read', '当日观看记录是否已完整读取'),
    is_viewer_complete: bool('k.viewer', 'Whether the visitor list has been read since', '之后是否读取过访客列表'),
    is_gift_complete: bool('k.gift', 'Whether all gifts have been read', '当日礼物是否已完整读取'),
    is_signup_complete: bool('k.signup', 'Whether all signups have been read', '当日报名是否已完整读取'),
    is_complete: bool('k.watch and k.viewer and k.gift and k.signup', 'Whether all have been read', '是否全部已读取'),
    is_final: bool(
      ['k.viewer', ...['watch', 'gift', 'signup'].map((part) => holdsDay(`c.${part}_settled`, 'd.day'))].join(' and '),
      'Whether it was read when it was older than the lookback and no longer changed, and the visitor list since',
      '是否已过回看期（访客列表为之后读取）、不再变化',
    ),
    ...count('visits', 'Visits that began on the day', '当日开始的访问次数'),
    ...count('watched_visits', 'Visits in which anything was watched', '有观看的访问次数'),
    ...isTest('d.channel_id'),
    watch_run_id: bigint(
      'd.run_id',
      'The run that last changed a watch record that began on the day or lasts into it. One that has left the day ' +
        'does not show: an extract of changes rereads the days around a changed one, and all that are not final',
      '最近一次更改当日开始或延续至当日的观看记录的运行。已移出当日的记录不会反映在此：增量抽取应重读有变化之日的前后几天，以及所有未定（is_final 为 false）的日子',
    ),
  },
  from: `from (
    select u.channel_id, u.day, ${totals.join(', ')}
    from (
      ${branches.join('\n      union all\n      ')}
    ) u group by u.channel_id, u.day having bool_or(u.is_day)
  ) d
  left join livehouse_ops.bi_settings s on true
  left join livehouse_ops.channel_coverage c on c.channel_id = d.channel_id
  ${completeness}`,
}

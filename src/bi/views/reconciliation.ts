import { type BiView, bigint, bool, numeric, text } from '../view.ts'
import { channelDays } from './fragments/channel-days.ts'
import { ALL_TIME, type Figure, rowsOf } from './fragments/channel-figures.ts'

/** A number that the service gives in two places: its name, its unit, both places, and both values as SQL. */
type Check = readonly [name: string, unit: string, left: string, right: string, total: string, sum: string]

/**
 * Totals of the visitor list beside sums of the watch records, for each viewer: 0 if a viewer has no record, NULL if a
 * record lacks the value.
 */
const perViewer = (
  [
    ['visits', 'visits', 'visit_count', 'visits'],
    ['watch_seconds', 'seconds', 'watch_seconds', 'watch_seconds'],
    ['live_seconds', 'seconds', 'live_seconds', 'live_seconds'],
    ['replay_seconds', 'seconds', 'vod_seconds', 'vod_seconds'],
    ['online_seconds', 'seconds', 'online_seconds', 'online_seconds'],
  ] as const
).map(([name, unit, total, sum]): Check => {
  const [left, right] = [`visitor list ${name}`, `watch records ${name}`]
  return [`viewer_${name}`, unit, left, right, `v.${total}`, `case when w.user_id is null then 0 else w.${sum} end`]
})

/** Durations that the visitor list gives as text, and again in seconds. */
const perField = (['live', 'replay'] as const).map((name): Check => {
  const field = name === 'live' ? 'live' : 'vod'
  const [left, right] = [`visitor list ${field}_time`, `visitor list ${field}_watch_time`]
  return [`text_${name}_seconds`, 'seconds', left, right, `v.${field}_seconds`, `v.${field}_watch_seconds`]
})

const accountChecks = [
  ['watch_minutes', 'cost_total_watch', 'watch_seconds'],
  ['live_minutes', 'cost_live_watch', 'live_seconds'],
  ['replay_minutes', 'cost_vod_watch', 'replay_seconds'],
] as const

/** A counter of a manager, from the last snapshot that has it. */
const lastOf = (counter: string) =>
  `(array_agg(${counter} order by snapshot_date desc) filter (where ${counter} is not null))[1] as ${counter}`

/** The last known consumption of all managers beside the sums of the watch records. */
const perAccount = `select k.check_name, null, 'minutes', k.left_source, k.right_source, k.left_value, k.right_value,
        null
      from (
        select ${accountChecks.map(([, total]) => `sum(m.${total}) as ${total}`).join(', ')}
        from (select ${accountChecks.map(([, total]) => lastOf(total)).join(', ')}
          from livehouse.manager_usage group by manager_id) m
      ) m
      cross join (
        select ${accountChecks.map(([, , sum]) => `round(sum(d.${sum}) / 60.0, 2) as ${sum}`).join(', ')}
        from (
          select watch_seconds, live_seconds, replay_seconds from ${channelDays} d
          union all
          select watch_seconds, live_seconds, vod_seconds from livehouse.watch_records where entered_at is null
        ) d
      ) w
      cross join lateral (values ${accountChecks
        .map(
          ([name, total, sum]) =>
            `('account_${name}', 'managers'' usage ${name}', 'watch records ${name}', m.${total}, w.${sum})`,
        )
        .join(', ')}) k (check_name, left_source, right_source, left_value, right_value)`

const checks = [...perViewer, ...perField]
const checkRows = checks.map(([name], no) => `('${name}', v.differing_${no}, v.left_${no}, v.right_${no})`)
const checkLabels = checks.map(([name, unit, left, right]) => `('${name}', '${unit}', '${left}', '${right}')`)
const checkSums = checks.map(
  ([, , , , total, sum], no) => `(sum(${total}) filter (where ${sum} is not null))::numeric as left_${no},
        (sum(${sum}) filter (where ${total} is not null))::numeric as right_${no},
        count(*) filter (where ${total} <> ${sum}) as differing_${no}`,
)

/** An array, as Postgres would otherwise expect one row of a table without statistics, and nest loops. */
const ofChannel = (alias: string) => `${alias}.channel_id = any(array(select c.channel_id))`

/** A sum that is NULL if a record lacks the value. */
const sumIfKnown = (time: string) =>
  `case when count(r.${time}_seconds) = count(*) then sum(r.${time}_seconds) end as ${time}_seconds`

/** Adds up before it makes a row of each check: else Postgres would sort the rows of viewers with all their texts. */
export const viewerChecks: Figure = {
  name: 'viewer_checks',
  sql: () => `select ${ALL_TIME}, k.item, k.number, k.left_value, k.right_value
    from (
      select ${checkSums.join(',\n        ')}
      from livehouse.visitors v left join (
        select r.user_id, count(*) as visits, ${['watch', 'live', 'vod', 'online'].map(sumIfKnown).join(', ')}
        from livehouse.watch_records r where ${ofChannel('r')} and r.user_id is not null group by r.user_id
      ) w on w.user_id = v.user_id
      where ${ofChannel('v')} and v.removed_at is null having count(*) > 0
    ) v cross join lateral (values ${checkRows.join(', ')}) k (item, number, left_value, right_value)`,
}

const perChannel = `select k.item as check_name, k.channel_id, t.unit, t.left_source, t.right_source, k.left_value,
        k.right_value, k.number as differing_viewers
      from ${rowsOf(viewerChecks)} k
      join (values ${checkLabels.join(', ')}) t (check_name, unit, left_source, right_source) on t.check_name = k.item`

export const reconciliation: BiView = {
  name: 'reconciliation',
  grain: {
    en: 'A number that the service gives in two places, for a channel or for the account',
    zh: '来源中出现两次的一个数（频道级或账号级）',
  },
  remarks: {
    en:
      'viewer_…: totals of the visitor list and sums of the watch records of the viewers in it; text_…: durations ' +
      'as text and in seconds; account_…: the consumption of all managers, by the last known value of each ' +
      'counter, and the watch records in the warehouse. Totals can be equal while viewers differ. Expect ' +
      'differences if a list was read later, records lie before the stored history, or channels are not ' +
      'configured. Viewers of whom one of the two numbers is unknown, or unknown for a record, are left out of ' +
      'both: version 1 of the interface has no live seconds.',
    zh:
      'viewer_…：访客列表合计与列表中观众的观看记录之和；text_…：文本时长与秒数字段；account_…：全部管理员用量（各计数最近一次的值）与库中的记录。合计相等而观众可不同。读取时间不同、早于历史范围或' +
      '频道未配置时会有差异。两数之一未知（或有记录缺少该值）的观众两边均不计入（接口第 1 版没有直播秒数）。',
  },
  key: ['check_name', 'channel_id'],
  columns: {
    check_name: text('r.check_name', 'Name of the check', '核对项'),
    channel_id: text('r.channel_id', 'Channel id; NULL for the account', '频道 ID；账号级为 NULL'),
    unit: text('r.unit', 'visits, seconds or minutes', '单位：visits（次）、seconds（秒）、minutes（分钟）'),
    left_source: text('r.left_source', 'Where left_value comes from', 'left_value 的来源'),
    left_value: numeric('r.left_value', 'Value at left_source', '左值'),
    right_source: text('r.right_source', 'Where right_value comes from', 'right_value 的来源'),
    right_value: numeric('r.right_value', 'Value at right_source', '右值'),
    difference: numeric('r.left_value - r.right_value', 'left_value minus right_value', '差值（左减右）'),
    differing_viewers: bigint('r.differing_viewers', 'Viewers whose two values differ', '两数不一致的观众数'),
    is_equal: bool('r.left_value = r.right_value', 'Whether the two values are equal', '是否一致'),
  },
  from: `from (
      ${perChannel}
      union all
      ${perAccount}
  ) r`,
}

import { managerUsage } from '../../streams/manager-usage.ts'
import { type BiColumns, type BiView, bool, date, integer, numeric, text } from '../view.ts'
import { moment } from './fragments/local-time.ts'
import { personalColumn } from './fragments/masks.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const usage = streamColumns(managerUsage, 'u')

/** The last earlier snapshot that has the counter: its day, as a number, and the counter. */
const latest = (column: string) =>
  `max(array[u.snapshot_date - date 'epoch', u.${column}]) filter (where u.${column} is not null) over before`
const previous = (column: string) => `(${latest(column)})[2]`

const counters = {
  watch_minutes: 'cost_total_watch',
  live_minutes: 'cost_live_watch',
  replay_minutes: 'cost_vod_watch',
  traffic_gb: 'cost_transfer',
} as const

/** Columns of a counter and of its increase since the last known value, or since the service restarted it from 0. */
function counterColumns(name: keyof typeof counters): BiColumns {
  const column = counters[name]
  return {
    [name]: usage(column),
    [`${name}_delta`]: numeric(
      `u.${column} - case when u.${column} < ${previous(column)} then 0 else ${previous(column)} end`,
      `Increase of ${name} since the last snapshot that has it; after a reset to 0, the increase since the reset`,
      `${name} 较上一次有该值的快照的增量；服务端清零后为清零以来的用量`,
    ),
  }
}

const daysBefore = 'u.snapshot_date - lag(u.snapshot_date) over before'
/** Whether each delta spans one day. True of a counter without values, and of traffic that limits nothing (API 2.6). */
const deltasSpanOneDay = Object.values(counters).map(
  (column) => `coalesce(${column === 'cost_transfer' ? 'u.limit_type <> 2 or ' : ''}case when u.${column} is not null
        then (${latest(column)})[1] = u.snapshot_date - date 'epoch' - 1 else ${latest(column)} is null end, false)`,
)

export const fctManagerUsage: BiView = {
  name: 'fct_manager_usage',
  grain: { en: 'A manager account on a day on which its usage was read', zh: '一个管理员账号在一个读取日的用量' },
  remarks: {
    en:
      'The last reading of each day. A day without a reading has no row: the next delta spans days_since_previous ' +
      'days. A counter that a reading lacks has its next delta since the last reading that has it.',
    zh: '取当日最后一次读取。未读取的日期没有行；下一行的增量跨 days_since_previous 天；某次读取缺少的计数，其增量自上一次有该值的读取起算。',
  },
  key: ['manager_id', 'day'],
  columns: {
    manager_id: usage('manager_id'),
    day: date('u.snapshot_date', 'Day of the reading; joins dim_date', '读取日期，关联 dim_date'),
    username: personalColumn('username', usage('username')),
    main_account_id: usage('main_account_id'),
    outer_id: personalColumn('outer_id', usage('outer_id')),
    created_day: usage('created_on'),
    channel_count: usage('channel_count'),
    ...moment('last_login', usage('last_login_at')),
    ...moment('last_push', usage('last_push_at')),
    limit_type: usage('limit_type'),
    limit_unit: text(
      `case u.limit_type when 1 then 'minutes' when 2 then 'GB' end`,
      'Unit of cost_limit: minutes or GB',
      'cost_limit 的单位：minutes（分钟）或 GB',
    ),
    cost_limit: usage('cost_limit'),
    ...counterColumns('watch_minutes'),
    ...counterColumns('live_minutes'),
    ...counterColumns('replay_minutes'),
    ...counterColumns('traffic_gb'),
    days_since_previous: integer(daysBefore, 'Days since the previous snapshot, if any', '距上一次快照的天数'),
    is_unlimited: bool('u.cost_limit = 0', 'Whether there is no consumption limit', '是否不限'),
    is_limit_notified: usage('cost_limit_notification'),
    is_redpack_enabled: usage('redpack_enabled'),
    is_live_notify_enabled: usage('live_notify_enabled'),
    is_gap: bool(
      `coalesce(${daysBefore} > 1, false)`,
      'Whether the day before was not read; false for the first reading of an account',
      '前一天是否未读取；账号的首次读取为 false',
    ),
    is_complete: bool(
      `coalesce(${daysBefore} = 1, false) and ${deltasSpanOneDay.join(' and ')}`,
      'Whether the deltas span one day; ignores counters without any value, and traffic if limit_type is 1',
      '增量是否已知且恰为一天（仅计该账号有过的计数；按时长限制（limit_type 1）时不计流量）',
    ),
    is_final: bool(`u.snapshot_date < (now() at time zone '{zone}')::date`, 'Whether the day is over', '当日已结束'),
    is_reset: bool(
      `coalesce(${Object.values(counters)
        .map((column) => `u.${column} < ${previous(column)}`)
        .join(' or ')}, false)`,
      'Whether a counter is lower than in the previous snapshot: the service has reset it to 0, and what was used ' +
        'between that snapshot and the reset is not in the deltas',
      '是否有计数低于上一次快照：服务端已清零，清零前未读取的用量不在增量中',
    ),
  },
  from: `from livehouse.manager_usage u
  window before as (partition by u.manager_id order by u.snapshot_date
    rows between unbounded preceding and 1 preceding)`,
}

import { moment } from './fragments/local-time.ts'
import { personal } from './fragments/masks.ts'
import { type BiColumn, bigint, type BiView, bool, date, integer, numeric, smallint, text } from '../view.ts'

/** The counter as it stood, and how much it grew since the snapshot before. */
function counter(
  name: string,
  column: string,
  en: string,
  zh: string,
  source: string,
): Readonly<Record<string, BiColumn>> {
  return {
    [name]: numeric(`u.${column}`, `${en}, as it stands in all`, `${zh}（累计）`, source),
    [`${name}_delta`]: numeric(
      `u.${column} - lag(u.${column}) over before`,
      `${en}, since the snapshot before; negative where the service began anew`,
      `${zh}（较上一次快照的增量；服务端清零时为负）`,
    ),
  }
}

const daysBefore = 'u.snapshot_date - lag(u.snapshot_date) over before'

export const fctManagerUsage: BiView = {
  name: 'fct_manager_usage',
  grain: { en: 'A manager account on a day on which its usage was read', zh: '一个管理员账号在一个读取日的用量' },
  remarks: {
    en: 'The last reading of the day stands. A day without a reading has no row; the next delta spans days_since_previous days.',
    zh: '取当日最后一次读取。未读取的日期没有行；下一行的增量跨 days_since_previous 天。',
  },
  key: ['manager_id', 'day'],
  columns: {
    manager_id: bigint('u.manager_id', 'Manager id', '管理员 ID', '2.6 id'),
    day: date('u.snapshot_date', 'Day of the service on which it was read; joins dim_date', '读取日期，关联 dim_date'),
    username: text('u.username', 'User name; leading zeros count', '用户名（前导零有意义）', '2.6 username'),
    main_account_id: bigint('u.main_account_id', 'Main account id', '主账号 ID', '2.6 belong_to'),
    outer_id: personal('outer_id', 'u.outer_id', 'Third-party id of the guest', '嘉宾的第三方 ID', '2.6 outer_id'),
    created_day: date('u.created_on', 'Creation date of the account', '账号创建日期', '2.6 create_date'),
    channel_count: integer('u.channel_count', 'Number of channels', '频道数', '2.6 act_num'),
    ...moment('last_login', 'u.last_login_at', 'Last login', '最近登录', '2.6 last_login_time'),
    ...moment('last_push', 'u.last_push_at', 'Last stream push', '最近推流', '2.6 last_push_stream_time'),
    limit_type: smallint('u.limit_type', '1 duration, 2 traffic', '1：时长；2：流量', '2.6 limit_type'),
    limit_unit: text(
      `case u.limit_type when 1 then 'minutes' when 2 then 'GB' end`,
      'Unit of cost_limit: minutes or GB',
      'cost_limit 的单位：minutes（分钟）或 GB',
    ),
    cost_limit: numeric(
      'u.cost_limit',
      'Consumption limit in limit_unit; 0 is unlimited',
      '消费上限（单位见 limit_unit；0 为不限）',
      '2.6 costLimit',
    ),
    ...counter('watch_minutes', 'cost_total_watch', 'Watch minutes consumed', '观看消费分钟', '2.6 costTotalWatchTime'),
    ...counter(
      'live_minutes',
      'cost_live_watch',
      'Live watch minutes consumed',
      '直播消费分钟',
      '2.6 costLiveWatchTime',
    ),
    ...counter(
      'replay_minutes',
      'cost_vod_watch',
      'On-demand watch minutes consumed',
      '点播消费分钟',
      '2.6 costVodWatchTime',
    ),
    ...counter('traffic_gb', 'cost_transfer', 'Traffic consumed in GB', '消费流量（GB）', '2.6 costTransfer'),
    days_since_previous: integer(
      daysBefore,
      'Days since the snapshot before; NULL for the first',
      '距上一次快照的天数；首次为 NULL',
    ),
    is_unlimited: bool('u.cost_limit = 0', 'Whether there is no consumption limit', '是否不限'),
    is_limit_notified: bool(
      'u.cost_limit_notification',
      'Whether the account is told when the limit is reached',
      '达到上限是否通知',
      '2.6 cost_limit_notification',
    ),
    is_redpack_enabled: bool(
      'u.redpack_enabled',
      'Whether red packets are enabled',
      '是否开启红包',
      '2.6 is_open_redpack',
    ),
    is_live_notify_enabled: bool(
      'u.live_notify_enabled',
      'Whether live subscription is enabled',
      '是否开启直播订阅',
      '2.6 is_open_live_notify',
    ),
    is_gap: bool(
      `coalesce(${daysBefore} > 1, false)`,
      'Whether days without a reading lie before it',
      '之前是否有未读取的日期',
    ),
    is_complete: bool(`coalesce(${daysBefore} = 1, false)`, 'Whether the deltas span one day', '增量是否恰为一天'),
    is_final: bool(
      `u.snapshot_date < (now() at time zone '{zone}')::date`,
      'Whether the day is over: it is not read again',
      '当日是否已结束（不会再次读取）',
    ),
  },
  from: `from livehouse.manager_usage u
  window before as (partition by u.manager_id order by u.snapshot_date)`,
}

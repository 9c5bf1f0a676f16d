import { defineStream } from '../core/stream.ts'
import { field, optional, required } from './columns.ts'
import { accountEnvelope, byPerPage } from './wire.ts'

/** Usage of manager accounts, one row per account and day of the service. API 4.8, fields 2.6. */
export const managerUsage = defineStream({
  name: 'manager_usage',
  label: { en: 'Usage of managers', zh: '管理员用量' },
  section: '4.8',
  words: {
    en: 'Usage of manager accounts, one row an account and day of the service on which it was read (API 4.8)',
    zh: '管理员账号用量，每个账号在每个读取日（服务所在时区）一行（API 4.8）',
  },
  columns: {
    manager_id: required(field.bigint('id', 'Manager id', '管理员 ID')),
    snapshot_date: {
      type: 'date',
      words: { en: 'Day of the service on which the usage was read', zh: '读取用量的日期（服务所在时区）' },
      source: { kind: 'serviceDay' },
    },
    username: field.text('username', 'User name; leading zeros count', '用户名；前导零有意义'),
    created_on: field.date('create_date', 'Creation date of the account', '账号创建日期'),
    main_account_id: field.bigint('belong_to', 'Main account id', '主账号 ID'),
    channel_count: field.integer('act_num', 'Number of channels', '频道数'),
    last_login_at: field.time('last_login_time', 'Last login', '最近登录时间'),
    last_push_at: field.time('last_push_stream_time', 'Last stream push', '最近推流时间'),
    cost_limit_notification: field.boolean(
      'cost_limit_notification',
      'Whether the account is told when the consumption limit is reached',
      '达到消费上限时是否通知',
    ),
    limit_type: field.smallint(
      'limit_type',
      '1 duration (minutes), 2 traffic (GB); the unit of the costs',
      '1 时长（分钟），2 流量（GB）；即各消费量的单位',
    ),
    outer_id: field.text('outer_id', 'Third-party id of the guest', '嘉宾的第三方 ID'),
    redpack_enabled: field.boolean('is_open_redpack', 'Whether red packets are enabled', '是否开启红包'),
    live_notify_enabled: field.boolean(
      'is_open_live_notify',
      'Whether live subscription is enabled',
      '是否开启直播订阅',
    ),
    cost_type: field.text('costType', 'Consumption type, display text of the service', '消费类型，服务端显示文本'),
    cost_limit: field.decimal(
      'costLimit',
      'Consumption limit in the unit of limit_type; 0 is unlimited',
      '消费上限，单位见 limit_type；0 为不限',
    ),
    cost_total_watch: field.decimal('costTotalWatchTime', 'Total watch duration consumed', '已消费的总观看时长'),
    cost_vod_watch: field.decimal('costVodWatchTime', 'On-demand watch duration consumed', '已消费的点播观看时长'),
    cost_live_watch: field.decimal('costLiveWatchTime', 'Live watch duration consumed', '已消费的直播观看时长'),
    cost_transfer: optional(field.decimal('costTransfer', 'Traffic consumed, in GB', '已消费的流量（GB）')),
  },
  key: ['manager_id', 'snapshot_date'],
  partitionedBy: 'account',
  wire: {
    method: 'GET',
    path: '/v1/account/managersUsage',
    place: 'unknown',
    ...byPerPage,
    defaultSize: 1,
    envelope: accountEnvelope,
  },
  pageSize: 10,
  bornColumn: 'created_on',
})

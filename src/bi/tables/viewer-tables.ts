import { type BaseTable, column, changes, removedAt } from '../base-table.ts'

/** Channels, who watched them and what they gave. */
export const viewerTables: Readonly<Record<string, BaseTable>> = {
  'livehouse.channels': {
    words: {
      en: 'Channels, one row each: every configured one, also before anything of it has landed',
      zh: '频道，每行一个：包括尚无任何数据写入的已配置频道',
    },
    key: ['channel_id'],
    columns: {
      channel_id: column('text', 'Channel id', '频道 ID'),
      name: column(
        'text',
        'Channel name, as the visitor list has it (API 2.5 name)',
        '频道名称，来自访客列表（API 2.5 name）',
      ),
      admin_id: column('bigint', 'Administrator id (API 2.5 uin)', '管理员 ID（API 2.5 uin）'),
      label: column(
        'text',
        'The label that the operator gave the channel (LIVEHOUSE_CHANNELS)',
        '运营者给频道的标签（LIVEHOUSE_CHANNELS）',
      ),
      channel_group: column(
        'text',
        'The group that the operator put the channel in (LIVEHOUSE_CHANNELS)',
        '运营者给频道的分组（LIVEHOUSE_CHANNELS）',
      ),
      is_test: column(
        'boolean',
        'Whether the operator marked the channel as a test (LIVEHOUSE_CHANNELS)',
        '运营者是否标记为测试频道（LIVEHOUSE_CHANNELS）',
      ),
      state: column(
        'text',
        'active: configured; retired: no longer configured; gone: configured, but the service no longer knows it',
        'active：已配置；retired：不再配置；gone：已配置，但服务端已不认识',
      ),
      ...changes,
      extra: column(
        'jsonb',
        'Always NULL here: the service has no list of channels of its own',
        '此处恒为 NULL：服务端没有频道列表',
      ),
    },
  },
  'livehouse.visitors': {
    words: {
      en: 'Viewers of a channel, one row each, with totals over all their visits (API 4.7)',
      zh: '频道的观众，每行一位，为其全部访问的合计（API 4.7）',
    },
    key: ['channel_id', 'user_id'],
    columns: {
      channel_id: column('text', 'Channel id', '频道 ID'),
      user_id: column('text', 'Viewer id', '观众 ID'),
      assign_id: column('text', 'Third-party id that the company assigned to the viewer', '公司为观众指定的第三方 ID'),
      outer_id: column('text', 'External account id of the viewer', '观众的外部账号 ID'),
      nickname: column(
        'text',
        'Nickname; not unique, made up from the region for anonymous viewers',
        '昵称；不唯一，匿名观众由地区生成',
      ),
      address: column('text', 'Address, province and city without a separator', '地址，省与市之间无分隔'),
      phone: column('text', 'Mobile phone number as the service has it', '手机号，服务端原样'),
      access_source: column('text', 'Where the viewer came from', '访问来源'),
      device: column(
        'text',
        'Device of the last visit, display text of the service',
        '最近一次访问的设备，服务端显示文本',
      ),
      browser: column(
        'text',
        'Browser of the last visit, display text of the service',
        '最近一次访问的浏览器，服务端显示文本',
      ),
      wx_openid: column('text', 'Open id of a social-network account', '社交网络账号的 openid'),
      last_ip: column('inet', 'IP address of the last login', '最近一次登录的 IP 地址'),
      visit_count: column('integer', 'Number of visits', '访问次数'),
      share_count: column('integer', 'Number of shares', '分享次数'),
      comment_count: column('integer', 'Number of chat messages', '聊天消息数'),
      watch_seconds: column('integer', 'Total watch duration in seconds', '观看总时长（秒）'),
      live_seconds: column('integer', 'Live watch duration in seconds', '直播观看时长（秒）'),
      vod_seconds: column('integer', 'On-demand watch duration in seconds', '点播观看时长（秒）'),
      live_watch_seconds: column(
        'integer',
        'Live watch duration in seconds, as the service counts seconds',
        '直播观看时长（秒），服务端以秒计',
      ),
      vod_watch_seconds: column(
        'integer',
        'On-demand watch duration in seconds, as the service counts seconds',
        '点播观看时长（秒），服务端以秒计',
      ),
      online_seconds: column('integer', 'Online duration in seconds', '在线时长（秒）'),
      first_login_at: column('timestamp with time zone', 'First entry', '首次进入时间'),
      last_online_at: column('timestamp with time zone', 'Last time online', '最近在线时间'),
      ...removedAt,
      ...changes,
    },
  },
  'livehouse.watch_records': {
    words: {
      en: 'Watch records, one row a visit of a viewer to a channel (API 4.5, and 4.6 where only that has the record)',
      zh: '观看记录，观众对频道的每次访问一行（API 4.5；仅 4.6 有的记录取自 4.6）',
    },
    key: ['channel_id', 'record_id'],
    columns: {
      channel_id: column('text', 'Channel id', '频道 ID'),
      record_id: column('bigint', 'Watch record id', '观看记录 ID'),
      user_id: column('text', 'Viewer id', '观众 ID'),
      assign_id: column('text', 'Third-party id that the company assigned to the viewer', '公司为观众指定的第三方 ID'),
      outer_id: column('text', 'External account id of the viewer', '观众的外部账号 ID'),
      nickname: column(
        'text',
        'Nickname; not unique, made up from the region for anonymous viewers',
        '昵称；不唯一，匿名观众由地区生成',
      ),
      address: column('text', 'Address, province and city without a separator', '地址，省与市之间无分隔'),
      phone: column('text', 'Mobile phone number as the service has it', '手机号，服务端原样'),
      device: column('text', 'Watching device, display text of the service', '观看设备，服务端显示文本'),
      browser: column('text', 'Watching method, display text of the service', '观看方式，服务端显示文本'),
      access_source: column('text', 'Where the viewer came from', '访问来源'),
      online_seconds: column('integer', 'Online duration in seconds', '在线时长（秒）'),
      watch_seconds: column('integer', 'Watch duration in seconds', '观看时长（秒）'),
      live_seconds: column('integer', 'Live watch duration in seconds', '直播观看时长（秒）'),
      vod_seconds: column('integer', 'On-demand watch duration in seconds', '点播观看时长（秒）'),
      entered_at: column(
        'timestamp with time zone',
        'Entry; the service may give it to the minute only',
        '进入时间；服务端可能只精确到分钟',
      ),
      left_at: column(
        'timestamp with time zone',
        'Leave; moves while the viewer is online',
        '离开时间；观众在线期间会变动',
      ),
      api_version: column(
        'smallint',
        '2, or 1 where only version 1 of the interface delivered the record',
        '2；仅由接口版本 1 提供的记录为 1',
      ),
      ...changes,
    },
  },
  'livehouse.gifts': {
    words: {
      en: 'Gifts to a channel, one row each, cash and prop (API 4.12)',
      zh: '频道收到的礼物，每行一份，含现金与道具（API 4.12）',
    },
    key: ['channel_id', 'gift_type', 'gift_key'],
    columns: {
      channel_id: column('text', 'Channel id', '频道 ID'),
      gift_type: column('text', 'cash or prop', 'cash（现金）或 prop（道具）'),
      gift_key: column(
        'text',
        'Identity of the gift: time, gift and amount, and its number among equal ones',
        '礼物标识：时间、礼物、金额，以及在相同者中的序号',
      ),
      given_at: column('timestamp with time zone', 'When the gift was given', '赠送时间'),
      gift_id: column('bigint', 'Prop id', '道具 ID'),
      visitor_id: column('text', 'Viewer id; the service does not always say it', '观众 ID；服务端不一定提供'),
      visitor_name: column('text', 'Viewer name; the service does not always say it', '观众名称；服务端不一定提供'),
      phone: column('text', 'Mobile phone number as the service has it', '手机号，服务端原样'),
      amount: column(
        'numeric(14,2)',
        'Reward amount; the service does not say its currency',
        '打赏金额；服务端不说明币种',
      ),
      occurrence: column(
        'integer',
        '1, 2 … among the gifts of one channel and type with equal given_at, gift_id and amount',
        '同一频道、同一类型中 given_at、gift_id、amount 相同的礼物的序号（1、2 …）',
      ),
      ...removedAt,
      ...changes,
    },
  },
}

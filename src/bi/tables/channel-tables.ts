import { type BaseTable, bigint, boolean, changes, json, text } from '../base-table.ts'

/** The channels, which no list of the service tells. */
export const channelTables: Readonly<Record<string, BaseTable>> = {
  'livehouse.channels': {
    words: {
      en: 'Channels, one row each: every configured one, also before anything of it has landed',
      zh: '频道，每行一个：包括尚无任何数据写入的已配置频道',
    },
    key: ['channel_id'],
    columns: {
      channel_id: text('Channel id', '频道 ID'),
      name: text('Channel name, as the visitor list has it (API 2.5 name)', '频道名称，来自访客列表（API 2.5 name）'),
      admin_id: bigint('Administrator id (API 2.5 uin)', '管理员 ID（API 2.5 uin）'),
      label: text(
        'The label that the operator gave the channel (LIVEHOUSE_CHANNELS)',
        '运营者给频道的标签（LIVEHOUSE_CHANNELS）',
      ),
      channel_group: text(
        'The group that the operator put the channel in (LIVEHOUSE_CHANNELS)',
        '运营者给频道的分组（LIVEHOUSE_CHANNELS）',
      ),
      is_test: boolean(
        'Whether the operator marked the channel as a test (LIVEHOUSE_CHANNELS)',
        '运营者是否标记为测试频道（LIVEHOUSE_CHANNELS）',
      ),
      state: text(
        'active: configured; retired: no longer configured; gone: configured, but the service no longer knows it',
        'active：已配置；retired：不再配置；gone：已配置，但服务端已不认识',
      ),
      ...changes,
      extra: json(
        'Always NULL here: the service has no list of channels of its own',
        '此处恒为 NULL：服务端没有频道列表',
      ),
    },
  },
}

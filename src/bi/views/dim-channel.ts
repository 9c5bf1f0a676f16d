import { type BiView, bigint, bool, text } from '../view.ts'
import { localDay } from './fragments/local-time.ts'
import { channelId } from './fragments/shared-columns.ts'

export const dimChannel: BiView = {
  name: 'dim_channel',
  grain: { en: 'A channel that is or was configured', zh: '一个已配置或曾配置的频道' },
  remarks: { en: '', zh: '' },
  key: ['channel_id'],
  columns: {
    ...channelId('c.channel_id'),
    channel_title: text(
      'coalesce(c.label, c.name, c.channel_id)',
      'Display name: the label of the operator, else the name of the channel, else its id',
      '频道的显示名称：运营者的标签，否则频道名，否则频道 ID',
    ),
    channel_name: text('c.name', 'Name of the channel', '频道名称', '2.5 name'),
    channel_label: text('c.label', 'Label that the operator gave the channel', '运营者给频道的标签'),
    channel_group: text('c.channel_group', 'Group that the operator put the channel in', '运营者给频道的分组'),
    channel_state: text(
      'c.state',
      'active: configured; retired: no longer configured; gone: the service no longer knows it',
      'active：已配置；retired：不再配置；gone：服务端已不存在',
    ),
    admin_id: bigint('c.admin_id', 'Administrator id', '管理员 ID', '2.5 uin'),
    is_test: bool('c.is_test', 'Whether the operator marked the channel as a test', '是否为测试频道'),
    is_active: bool(`c.state = 'active'`, 'Whether channel_state is active', '频道是否处于启用状态'),
    records_without_entry: bigint(
      `(select count(*) from livehouse.watch_records w
        where w.channel_id = c.channel_id and ${localDay('w.entered_at')} is null)`,
      'Watch records whose time of entry could not be read: they are in fct_watch, but on no day',
      '进入时间无法读取的观看记录数：在 fct_watch 中，但不属于任何一天',
    ),
  },
  from: 'from livehouse.channels c',
}

import { duration, moment } from './fragments/local-time.ts'
import { identityBasis, personKey, unlistedViewers, viewerKey } from './fragments/identity.ts'
import { personal } from './fragments/masks.ts'
import { city, province } from './fragments/places.ts'
import { channelId } from './fragments/shared-columns.ts'
import { type BiView, bool, integer, text } from '../view.ts'

/** What the visitor list tells of a viewer, beside the key. */
const attributes = (
  'assign_id outer_id nickname address phone access_source device browser wx_openid last_ip visit_count share_count ' +
  'comment_count watch_seconds live_seconds vod_seconds online_seconds first_login_at last_online_at removed_at'
).split(' ')

export const dimViewer: BiView = {
  name: 'dim_viewer',
  grain: { en: 'A viewer of a channel: channel and user id', zh: '一个频道的一位观众（频道 + 观众 ID）' },
  remarks: {
    en:
      'From the visitor list, and viewers whom only a watch record, gift or signup names (is_listed false, without attributes), so ' +
      'that every viewer_key of a fact is here. Viewers that the list no longer has stay, with is_removed.',
    zh: '来自访客列表；仅出现在观看、礼物或报名记录中的观众也在内（is_listed 为 false，无属性），因此事实表的每个 viewer_key 都能关联到。已从列表消失的观众保留并标记 is_removed。',
  },
  key: ['viewer_key'],
  columns: {
    viewer_key: text(viewerKey('v.channel_id', 'v.user_id'), 'Key: channel_id:user_id', '主键：channel_id:user_id'),
    ...channelId('v.channel_id'),
    user_id: text('v.user_id', 'Viewer id', '观众 ID', '2.5 user_id'),
    person_key: text(personKey('v'), 'Person across channels; joins dim_person', '跨频道的人，关联 dim_person'),
    identity_basis: text(
      identityBasis('v'),
      'What the person is known by: outer_id, assign_id, phone or none (then the viewer is a person of its own)',
      '识别到人的依据：outer_id、assign_id、phone 或 none（此时该观众单独算一人）',
    ),
    assign_id: personal(
      'assign_id',
      'v.assign_id',
      'Third-party id that the company assigned',
      '企业分配的第三方 ID',
      '2.5 assign_id',
    ),
    outer_id: personal('outer_id', 'v.outer_id', 'External account id', '外部账号 ID', '2.5 outer_id'),
    nickname: personal('nickname', 'v.nickname', 'Nickname; not unique', '昵称（不唯一）', '2.5 nick'),
    phone: personal('phone', 'v.phone', 'Mobile phone number', '手机号', '2.5 phone'),
    is_phone_known: bool('v.phone is not null', 'Whether a phone number is known', '是否有手机号'),
    address: personal(
      'address',
      'v.address',
      'Address as the service has it; masked to province and city',
      '地址；脱敏时只留省市',
      '2.5 addr',
    ),
    province: text(
      province('v.address'),
      'Province, split from the address; NULL where it has none',
      '从地址拆出的省份；拆不出为 NULL',
    ),
    city: text(
      city('v.address'),
      'City, split from the address; NULL where it cannot be told',
      '从地址拆出的城市；拆不出为 NULL',
    ),
    access_source: text('v.access_source', 'Where the viewer came from', '访问来源', '2.5 refer'),
    device: text('v.device', 'Device of the last visit', '最近一次使用的设备', '2.5 device'),
    browser: text('v.browser', 'Browser of the last visit', '最近一次的观看方式', '2.5 browser'),
    last_ip: personal(
      'ip',
      'v.last_ip',
      'IP address of the last login; masked to its /24 or /48 network',
      '最近登录 IP；脱敏为 /24 或 /48 网段',
      '2.5 last_ip',
    ),
    open_id: personal(
      'open_id',
      'v.wx_openid',
      'Open id of a social-network account; masked to a keyed hash that still joins',
      '社交账号 openid；脱敏为可关联的带密钥哈希',
      '2.5 wx_openid',
    ),
    visit_count: integer('v.visit_count', 'Number of visits', '访问次数', '2.5 visit_times'),
    share_count: integer('v.share_count', 'Number of shares', '分享次数', '2.5 share_times'),
    comment_count: integer('v.comment_count', 'Number of chat messages', '聊天条数', '2.5 comment_count'),
    ...duration('watch', 'v.watch_seconds', 'Watched in all', '累计观看时长', '2.5 watch_time'),
    ...duration('live', 'v.live_seconds', 'Watched live', '直播观看时长', '2.5 live_time'),
    ...duration('replay', 'v.vod_seconds', 'Watched on demand', '点播观看时长', '2.5 vod_time'),
    ...duration('online', 'v.online_seconds', 'Online', '在线时长', '2.5 online_time'),
    ...moment('first_login', 'v.first_login_at', 'First entry', '首次进入', '2.5 first_login_time'),
    ...moment('last_online', 'v.last_online_at', 'Last time online', '最后在线', '2.5 last_online_time'),
    is_listed: bool('v.is_listed', 'Whether the visitor list has or had the viewer', '访客列表中是否有（过）该观众'),
    is_removed: bool(
      'v.removed_at is not null',
      'Whether the visitor list no longer has the viewer',
      '是否已从访客列表消失',
    ),
  },
  from: `from (
    select channel_id, user_id, ${attributes.join(', ')}, true as is_listed from livehouse.visitors
    union all
    select u.channel_id, u.user_id, ${attributes.map(() => 'null').join(', ')}, false
    from (${unlistedViewers}) u
  ) v`,
}

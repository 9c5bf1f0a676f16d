import { visitors } from '../../streams/visitors.ts'
import { type BiView, bool, text } from '../view.ts'
import { identityBasis, joinPerson, personOf, unlistedViewerRows, viewerKey } from './fragments/identity.ts'
import { duration, moment } from './fragments/local-time.ts'
import { linkColumn, personalColumn } from './fragments/masks.ts'
import { channelId, isTest, places } from './fragments/shared-columns.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const viewer = streamColumns(visitors, 'v')

/** The columns of the visitor list beside its key. */
const attributes = (
  'assign_id outer_id nickname address phone access_source device browser wx_openid last_ip visit_count ' +
  'share_count comment_count watch_seconds live_seconds vod_seconds online_seconds first_login_at last_online_at ' +
  'removed_at'
).split(' ')

export const dimViewer: BiView = {
  name: 'dim_viewer',
  grain: { en: 'A viewer of a channel: channel and user id', zh: '一个频道的一位观众（频道 + 观众 ID）' },
  remarks: {
    en:
      'The viewers of the visitor list, and viewers that only a watch record, gift or signup names (is_listed is ' +
      'false, without attributes), so that every viewer_key of a fact is here. Viewers that have left the list ' +
      'stay, with is_removed.',
    zh: '来自访客列表；仅出现在观看、礼物或报名记录中的观众也在内（is_listed 为 false，无属性），因此事实表的每个 viewer_key 都能关联到。已从列表消失的观众保留并标记 is_removed。',
  },
  key: ['viewer_key'],
  columns: {
    viewer_key: text(viewerKey('v.channel_id', 'v.user_id'), 'Key: channel_id:user_id', '主键：channel_id:user_id'),
    ...channelId('v.channel_id'),
    user_id: viewer('user_id'),
    person_key: text(personOf('v.channel_id', 'v.user_id'), 'Person; joins dim_person', '人，关联 dim_person'),
    identity_basis: text(
      identityBasis('i'),
      'The best id that identifies the person, of all its viewers: outer_id, assign_id, phone or none (then the ' +
        'viewer is a person of its own)',
      '识别到人的依据：outer_id、assign_id、phone 或 none（此时该观众单独算一人）',
    ),
    assign_id: personalColumn('assign_id', viewer('assign_id')),
    outer_id: personalColumn('outer_id', viewer('outer_id')),
    nickname: personalColumn('nickname', viewer('nickname')),
    phone: personalColumn('phone', viewer('phone')),
    is_phone_known: bool(
      'v.phone is not null',
      'Whether the visitor list gives a phone number, even a masked one or a placeholder such as 00000000000',
      '访客列表是否给出手机号（含脱敏号码和 00000000000 等占位值）',
    ),
    address: personalColumn('address', viewer('address')),
    ...places('v.address'),
    access_source: linkColumn(viewer('access_source')),
    device: viewer('device'),
    browser: viewer('browser'),
    last_ip: personalColumn('ip', viewer('last_ip')),
    open_id: personalColumn('open_id', viewer('wx_openid')),
    visit_count: viewer('visit_count'),
    share_count: viewer('share_count'),
    comment_count: viewer('comment_count'),
    ...duration('watch', viewer('watch_seconds')),
    ...duration('live', viewer('live_seconds')),
    ...duration('replay', viewer('vod_seconds')),
    ...duration('online', viewer('online_seconds')),
    ...moment('first_login', viewer('first_login_at')),
    ...moment('last_online', viewer('last_online_at')),
    is_listed: bool('v.is_listed', 'Whether the visitor list has or had the viewer', '访客列表中是否有（过）该观众'),
    is_removed: bool('v.removed_at is not null', 'Whether the viewer has left the list', '是否已离开访客列表'),
    ...isTest('v.channel_id'),
  },
  from: `from (
    select channel_id, user_id, ${attributes.join(', ')}, true as is_listed from livehouse.visitors
    union all
    select u.channel_id, u.user_id, ${attributes.map(() => 'null').join(', ')}, false
    from (${unlistedViewerRows}) u
  ) v
  ${joinPerson('v.channel_id', 'v.user_id')}`,
}

import { visitors } from '../../streams/visitors.ts'
import { type BiColumn, type BiView, bigint, bool, instant, text } from '../view.ts'
import { identityBasis, joinPerson, personKey, unlistedViewerRows, viewerKey } from './fragments/identity.ts'
import { duration, moment } from './fragments/local-time.ts'
import { personalColumn } from './fragments/masks.ts'
import { persons, storedPersonColumns, unlistedPersonColumns, viewerPersonColumns } from './fragments/persons.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const viewer = streamColumns(visitors, 'p')

function lastSeen(name: Parameters<typeof viewer>[0]): BiColumn {
  const { words, ...column } = viewer(name)
  return { ...column, words: { en: `${words.en}; the last known value`, zh: `${words.zh}（最近一次）` } }
}

export const dimPerson: BiView = {
  name: 'dim_person',
  grain: { en: 'A person across channels', zh: '跨频道的一个人' },
  remarks: {
    en:
      'Viewers who share an external account id, an assigned id or a phone number, directly or through other ' +
      'viewers, are one person. Ids are compared in lower case, without blanks and invisible characters; ' +
      'placeholders (LIVEHOUSE_IGNORED_IDS) connect nobody. A viewer with none of these ids is a person of its ' +
      'own. Updated after each run; identity_conflicts lists the persons to check.',
    zh:
      '外部账号 ID、分配 ID 或手机号有一相同的观众是同一个人，可经由他人相连。比较时忽略空白、不可见字符与大小写；占位值（LIVEHOUSE_IGNORED_IDS）不用于合并。三者皆无的观众单独算一人。' +
      '每次运行后重新归并；可疑的人见 identity_conflicts。',
  },
  key: ['person_key'],
  columns: {
    person_key: text(`coalesce(${personKey('p')}, 'viewer:' || p.viewer)`, 'Opaque key', '主键（不透明）'),
    identity_basis: text(identityBasis('p'), 'Known by: outer_id, assign_id, phone or none', '识别依据，无则为 none'),
    outer_id: personalColumn('outer_id', lastSeen('outer_id')),
    assign_id: personalColumn('assign_id', lastSeen('assign_id')),
    nickname: personalColumn('nickname', lastSeen('nickname')),
    phone: personalColumn('phone', lastSeen('phone')),
    is_identified: bool('p.person is not null', 'Whether an id or phone identifies it', '是否有其他身份'),
    viewer_count: bigint('p.viewer_count', 'Number of viewers (channel and user id)', '此人对应的观众数'),
    channel_count: bigint('p.channel_count::bigint', 'Number of channels', '涉及的频道数'),
    visit_count: bigint('p.visit_count', 'Number of visits in all channels', '全部频道的访问次数', '2.5 visit_times'),
    ...duration('watch', bigint('p.watch_seconds', 'Watch time in all channels, in seconds', '观看时长（秒）')),
    ...duration('live', bigint('p.live_seconds', 'Live watch time in seconds', '直播观看时长（秒）')),
    ...duration('replay', bigint('p.vod_seconds', 'On-demand watch time in seconds', '点播观看时长（秒）')),
    ...moment('first_login', instant('p.first_login_at', 'First entry in any channel', '首次进入任一频道')),
    ...moment('last_online', instant('p.last_online_at', 'Last time online in any channel', '最后在线（任一频道）')),
  },
  // Most persons are one viewer and need no aggregate. The outer select makes keys only for rows that are shown.
  from: `from (
    select k.person, null as viewer, ${storedPersonColumns}, cardinality(k.channels) as channel_count
    from ${persons} k
    union all
    select i.person, ${viewerKey('v.channel_id', 'v.user_id')}, ${viewerPersonColumns}, 1
    from livehouse.visitors v ${joinPerson('v.channel_id', 'v.user_id')} where i.is_shared is not true
    union all
    select null, ${viewerKey('u.channel_id', 'u.user_id')}, ${unlistedPersonColumns}, 1
    from (${unlistedViewerRows}) u
  ) p`,
}

import { type BiView, bigint, bool, text } from '../view.ts'
import { identityBasis, personKey } from './fragments/identity.ts'

/** A person rarely has more viewer ids in one channel; a shared or made-up phone number soon connects more. */
const MAX_VIEWERS = 5

export const identityConflicts: BiView = {
  name: 'identity_conflicts',
  grain: { en: 'A person who may be several', zh: '一个可能实为多人的人' },
  remarks: {
    en:
      `Persons with several external account ids, or more than ${MAX_VIEWERS} viewers of one channel: people ` +
      'who share a phone or an account, or a placeholder that belongs in LIVEHOUSE_IGNORED_IDS.',
    zh: `有多个外部账号 ID，或在同一频道有超过 ${MAX_VIEWERS} 位观众的人：可能是多人共用手机号或账号，或应加入 LIVEHOUSE_IGNORED_IDS 的占位值。`,
  },
  key: ['person_key'],
  hidesRows: true,
  columns: {
    person_key: text('p.person_key', 'Person; joins dim_person', '人，关联 dim_person'),
    identity_basis: text('p.identity_basis', 'What identifies the person', '识别依据'),
    viewer_count: bigint('p.viewer_count', 'Number of viewers of the person', '此人对应的观众数'),
    most_viewers_of_a_channel: bigint('p.most_viewers', 'Most viewers in one channel', '单个频道中的最多观众数'),
    outer_id_count: bigint('p.outer_id_count', 'Number of external account ids', '外部账号 ID 数'),
    assign_id_count: bigint('p.assign_id_count', 'Number of assigned ids', '分配 ID 数'),
    phone_count: bigint('p.phone_count', 'Number of phone numbers', '手机号数'),
    is_several_accounts: bool('p.outer_id_count > 1', 'Whether it has several outer ids', '是否有多个外部账号'),
    is_crowd: bool(
      `p.most_viewers > ${MAX_VIEWERS}`,
      'Whether it has too many viewers in one channel',
      '是否单个频道过多',
    ),
  },
  // Grouped by the key, which hides a phone: rows in the order of the phones would reveal hidden digits.
  from: `from (
    select v.person_key, min(v.identity_basis) as identity_basis, count(*) as viewer_count,
      max(v.of_channel) as most_viewers,
      count(distinct v.outer_id) as outer_id_count, count(distinct v.assign_id) as assign_id_count,
        count(distinct v.phone) as phone_count
    from (
      select i.*, count(*) over (partition by i.person_key, i.channel_id) as of_channel
      from (select p.*, ${personKey('p')} as person_key, ${identityBasis('p')} as identity_basis
        from livehouse_ops.viewer_persons p) i
    ) v
    group by v.person_key having count(distinct v.outer_id) > 1 or max(v.of_channel) > ${MAX_VIEWERS}
  ) p`,
}

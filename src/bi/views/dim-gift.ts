import { gifts } from '../../streams/gifts.ts'
import { type BiView, bigint, bool, instant, text } from '../view.ts'
import { moment } from './fragments/local-time.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const gift = streamColumns(gifts, 'g')

/** The key of the kind of a gift `g`. */
export const giftKey = `g.gift_type || ':' || coalesce(g.gift_id::text, 'none')`

export const dimGift: BiView = {
  name: 'dim_gift',
  grain: { en: 'A kind of gift: type and gift id', zh: '一种礼物（类型 + 礼物 ID）' },
  remarks: {
    en: 'Kinds that were given, and kinds for which there is only a label of the operator.',
    zh: '包括收到过的礼物，以及仅在运营者标签中的礼物。',
  },
  key: ['gift_key'],
  columns: {
    gift_key: text(giftKey, 'Key: gift_type:gift_id', '主键：gift_type:gift_id'),
    gift_type: gift('gift_type'),
    gift_id: gift('gift_id'),
    gift_title: text(
      `coalesce(l.label, g.gift_type || coalesce(' ' || g.gift_id, ''))`,
      'Display name: the label of the operator, else type and id',
      '礼物显示名称：运营者的标签，否则类型与 ID',
    ),
    gift_label: text('l.label', 'Label that the operator gave the gift', '运营者给礼物的标签'),
    gift_group: text('l.gift_group', 'Group that the operator put the gift in', '运营者给礼物的分组'),
    gift_count: bigint('g.gift_count', 'Number of gifts', '收到次数'),
    is_cash: bool(`g.gift_type = 'cash'`, 'Whether it is a cash reward', '是否现金打赏'),
    ...moment('first_given', instant('g.first_given_at', 'When it was first given', '首次收到')),
    ...moment('last_given', instant('g.last_given_at', 'When it was last given', '最近一次收到')),
  },
  from: `from (
    select k.gift_type, k.gift_id, sum(k.gift_count)::bigint as gift_count, min(k.given_at) as first_given_at,
      max(k.last_at) as last_given_at
    from (
      select gift_type, gift_id, count(*) as gift_count, min(given_at) as given_at, max(given_at) as last_at
      from livehouse.gifts where removed_at is null group by gift_type, gift_id
      union all
      select gift_type, gift_id, 0, null, null from livehouse_ops.gift_labels
    ) k group by k.gift_type, k.gift_id
  ) g
  left join livehouse_ops.gift_labels l on l.gift_type = g.gift_type and l.gift_id = g.gift_id`,
}

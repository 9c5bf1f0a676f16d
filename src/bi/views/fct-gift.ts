import { gifts } from '../../streams/gifts.ts'
import { type BiView, bool, numeric, text } from '../view.ts'
import { giftKey } from './dim-gift.ts'
import { eventKey, joinViewer } from './fragments/identity.ts'
import { event } from './fragments/local-time.ts'
import { personalColumn } from './fragments/masks.ts'
import { channelId, currency, isTest, matchedViewer } from './fragments/shared-columns.ts'
import { streamColumns } from './fragments/stream-columns.ts'

const gift = streamColumns(gifts, 'g')

export const fctGift: BiView = {
  name: 'fct_gift',
  grain: { en: 'A gift to a channel', zh: '频道收到的一份礼物' },
  remarks: {
    en: 'Cash and prop amounts must not be added up. Gifts that the service no longer has are left out.',
    zh: '现金与道具金额不可相加。服务端已不存在的礼物不计入。',
  },
  key: ['channel_id', 'gift_type', 'gift_event_key'],
  hidesRows: true,
  columns: {
    ...channelId('g.channel_id'),
    gift_type: gift('gift_type'),
    gift_event_key: text(
      eventKey('g.gift_key', 'g.given_at'),
      'Key of the gift, made by livehouse, as the service has none',
      '礼物记录的标识（服务端没有，由 livehouse 生成）',
    ),
    gift_key: text(giftKey, 'Kind of gift; joins dim_gift', '礼物种类，关联 dim_gift'),
    gift_id: gift('gift_id'),
    ...matchedViewer('g', 'visitor_id'),
    ...event('given', gift('given_at')),
    cash_amount: numeric(
      `case when g.gift_type = 'cash' then g.amount end`,
      'Amount of a cash reward; NULL for a prop',
      '现金打赏金额；道具为 NULL',
      '2.10 money',
    ),
    prop_amount: numeric(
      `case when g.gift_type = 'prop' then g.amount end`,
      'Amount of a prop; NULL for cash',
      '道具金额；现金为 NULL',
      '2.10 money',
    ),
    currency,
    is_cash: bool(`g.gift_type = 'cash'`, 'Whether it is a cash reward', '是否现金打赏'),
    viewer_name: personalColumn('nickname', gift('visitor_name')),
    phone: personalColumn('phone', gift('phone')),
    occurrence: gift('occurrence'),
    ...isTest('g.channel_id'),
  },
  from: `from livehouse.gifts g
  left join livehouse_ops.bi_settings s on true
  ${joinViewer('g', 'visitor_id')}
  where g.removed_at is null`,
}

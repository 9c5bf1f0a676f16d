import { eventKey, joinViewer } from './fragments/identity.ts'
import { local, localDay } from './fragments/local-time.ts'
import { personal } from './fragments/masks.ts'
import { channelId, matchedViewer } from './fragments/shared-columns.ts'
import { bigint, type BiView, bool, date, instant, integer, localTime, numeric, text } from '../view.ts'
import { giftKey } from './dim-gift.ts'

export const fctGift: BiView = {
  name: 'fct_gift',
  grain: { en: 'A gift to a channel', zh: '频道收到的一份礼物' },
  remarks: {
    en: 'Cash and prop amounts are never one sum. Gifts that the service no longer has are left out.',
    zh: '现金与道具金额不可相加。服务端已不存在的礼物不计入。',
  },
  key: ['channel_id', 'gift_type', 'gift_event_key'],
  columns: {
    ...channelId('g.channel_id'),
    gift_type: text('g.gift_type', 'cash or prop', 'cash（现金）或 prop（道具）', '4.12 type'),
    gift_event_key: text(
      eventKey('g.gift_key', 'g.given_at'),
      'Identity of the gift, made by livehouse: the service gives none',
      '礼物记录的标识（服务端没有，由 livehouse 生成）',
    ),
    gift_key: text(giftKey('g'), 'Kind of gift; joins dim_gift', '礼物种类，关联 dim_gift'),
    gift_id: bigint('g.gift_id', 'Prop id', '礼物 ID', '2.10 gift_id'),
    ...matchedViewer('g', 'visitor_id'),
    day: date(localDay('g.given_at'), 'Day on which it was given; joins dim_date', '赠送日期，关联 dim_date'),
    given_at: instant('g.given_at', 'When it was given, an instant', '赠送时刻', '2.10 uptime'),
    given_at_local: localTime(
      local('g.given_at'),
      'When it was given, wall clock of the service',
      '赠送时间（服务所在时区）',
    ),
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
    currency: text(
      's.currency',
      'Currency that the operator names (LIVEHOUSE_CURRENCY): the service does not',
      '币种（由运营者在 LIVEHOUSE_CURRENCY 中指定）',
    ),
    is_cash: bool(`g.gift_type = 'cash'`, 'Whether it is a cash reward', '是否现金打赏'),
    viewer_name: personal('nickname', 'g.visitor_name', 'Name of the giver', '赠送者名称', '2.10 name'),
    phone: personal('phone', 'g.phone', 'Mobile phone number of the giver', '赠送者手机号', '2.10 phone'),
    occurrence: integer('g.occurrence', '1, 2 … among equal gifts of one second', '同一秒相同礼物的序号（1、2 …）'),
  },
  from: `from livehouse.gifts g
  left join livehouse_ops.bi_settings s on true
  ${joinViewer('g', 'visitor_id')}
  where g.removed_at is null`,
}

import { defineStream } from '../core/stream.ts'
import { channelColumn, computedColumn, field, optional, partitionColumn, phoneColumn, required } from './columns.ts'
import { byPerPage } from './wire.ts'

/** Gifts, one row each; they have no id at the service. API 4.12, fields 2.10. */
export const gifts = defineStream({
  name: 'gifts',
  label: { en: 'Gifts', zh: '打赏' },
  section: '4.12',
  words: {
    en: 'Gifts to a channel, one row each, cash and prop (API 4.12)',
    zh: '频道收到的礼物，每行一份，含现金与道具（API 4.12）',
  },
  columns: {
    channel_id: channelColumn,
    gift_type: partitionColumn('type', 'cash or prop', 'cash（现金）或 prop（道具）'),
    gift_key: computedColumn(
      'text',
      'Identity of the gift: time, gift and amount, and its number among equal ones',
      '礼物标识：时间、礼物、金额，以及在相同者中的序号',
    ),
    given_at: required(field.time('uptime', 'When the gift was given', '赠送时间')),
    gift_id: field.bigint('gift_id', 'Prop id', '道具 ID'),
    visitor_id: optional(
      field.text('visitor_id', 'Viewer id; the service does not always say it', '观众 ID；服务端不一定提供'),
    ),
    visitor_name: optional(
      field.text('name', 'Viewer name; the service does not always say it', '观众名称；服务端不一定提供'),
    ),
    phone: phoneColumn,
    amount: field.money('money', 'Reward amount; the service does not say its currency', '打赏金额；服务端不说明币种'),
    occurrence: computedColumn(
      'integer',
      '1, 2 … among the gifts of one channel and type with equal given_at, gift_id and amount',
      '同一频道、同一类型中 given_at、gift_id、amount 相同的礼物的序号（1、2 …）',
    ),
  },
  key: ['channel_id', 'gift_type', 'gift_key'],
  partitionedBy: 'channel/type',
  types: ['cash', 'prop'],
  wire: {
    method: 'POST',
    path: '/v1/activities/{channel}/giftRunning',
    place: 'body',
    parts: { type: 'type' },
    window: { from: 'startTime', to: 'endTime' },
    ...byPerPage,
  },
  pageSize: 100,
  timeColumns: ['given_at'],
  bornColumn: 'given_at',
  lookbackDays: 1,
  marksRemoved: true,
  identity: {
    keyColumn: 'gift_key',
    occurrenceColumn: 'occurrence',
    of: ['given_at', 'gift_id', 'amount'],
    timeColumn: 'given_at',
  },
})

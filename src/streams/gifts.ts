import { defineStream } from '../core/stream.ts'
import {
  bigintField,
  computedColumn,
  moneyField,
  optional,
  partitionColumn,
  required,
  textField,
  timeField,
} from './columns.ts'
import { byPerPage } from './wire.ts'

/** One row a gift. The service gives gifts no id. API 4.12, fields 2.10. */
export const gifts = defineStream({
  name: 'gifts',
  label: { en: 'Gifts', zh: '打赏' },
  table: 'gifts',
  section: '4.12',
  comment: 'Gifts to a channel, one row each, cash and prop (API 4.12)',
  columns: {
    channel_id: partitionColumn('channel', 'Channel id'),
    gift_type: partitionColumn('type', 'cash or prop'),
    gift_key: computedColumn('text', 'Identity of the gift: time, gift and amount, and its number among equal ones'),
    given_at: required(timeField('uptime', 'When the gift was given')),
    gift_id: bigintField('gift_id', 'Prop id'),
    visitor_id: optional(textField('visitor_id', 'Viewer id; the service does not always say it')),
    visitor_name: optional(textField('name', 'Viewer name; the service does not always say it')),
    phone: textField('phone', 'Mobile phone number as the service has it'),
    amount: moneyField('money', 'Reward amount; the service does not say its currency'),
    occurrence: computedColumn(
      'integer',
      '1, 2 … among the gifts of one channel and type with equal given_at, gift_id and amount',
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
  lookbackDays: 1,
  marksRemoved: true,
  identity: {
    keyColumn: 'gift_key',
    occurrenceColumn: 'occurrence',
    of: ['given_at', 'gift_id', 'amount'],
    timeColumn: 'given_at',
  },
  otherFields: [],
})

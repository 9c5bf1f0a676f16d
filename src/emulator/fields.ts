import type { Cell } from '../core/column.ts'
import { floorToMinute, formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Switches } from './switches.ts'
import { wireDuration, wireInteger } from './wire.ts'
import type { Gift, Manager, Questionnaire, Viewer, Visitor, WatchRecord } from './world/world.ts'

/**
 * How a value is written. `text`: NULL in the warehouse if empty. `id`: decimal digits, a number on the wire.
 * `duration`: seconds, `HH:MM:SS` on the wire. `second`, `minute`: a wall-clock time, sent to that unit; `second` sends
 * null as empty text. `flag`: 0 or 1 on the wire. `decimal`: a number, text in the warehouse. `same`: unchanged.
 */
type Kind = 'text' | 'same' | 'id' | 'duration' | 'second' | 'minute' | 'flag' | 'decimal'

/** A property of the world's row, its field on the wire and its column in the warehouse. */
export type Field<Row> = readonly [property: keyof Row & string, field: string, column: string, kind: Kind]

const viewerFields: readonly Field<Viewer>[] = [
  ['userId', 'user_id', 'user_id', 'text'],
  ['assignId', 'assign_id', 'assign_id', 'text'],
  ['outerId', 'outer_id', 'outer_id', 'text'],
  ['nick', 'nick', 'nickname', 'text'],
  ['addr', 'addr', 'address', 'text'],
  ['phone', 'phone', 'phone', 'text'],
  ['device', 'device', 'device', 'text'],
  ['browser', 'browser', 'browser', 'text'],
  ['watchSeconds', 'watch_time', 'watch_seconds', 'duration'],
  ['liveSeconds', 'live_time', 'live_seconds', 'duration'],
  ['vodSeconds', 'vod_time', 'vod_seconds', 'duration'],
]

/** API 4.7. */
export const visitorFields: readonly Field<Visitor>[] = [
  ...viewerFields,
  ['refer', 'refer', 'access_source', 'text'],
  ['wxOpenid', 'wx_openid', 'wx_openid', 'text'],
  ['lastIp', 'last_ip', 'last_ip', 'text'],
  ['visitTimes', 'visit_times', 'visit_count', 'same'],
  ['shareTimes', 'share_times', 'share_count', 'same'],
  ['commentCount', 'comment_count', 'comment_count', 'same'],
  ['liveSeconds', 'live_watch_time', 'live_watch_seconds', 'same'],
  ['vodSeconds', 'vod_watch_time', 'vod_watch_seconds', 'same'],
  ['onlineSeconds', 'online_time', 'online_seconds', 'same'],
  ['firstLoginAt', 'first_login_time', 'first_login_at', 'second'],
  ['lastOnlineAt', 'last_online_time', 'last_online_at', 'second'],
]

/** API 4.5. */
export const recordFields: readonly Field<WatchRecord>[] = [
  ...viewerFields,
  ['recordId', 'record_id', 'record_id', 'id'],
  ['origin', 'origin', 'access_source', 'text'],
  ['onlineSeconds', 'online_time', 'online_seconds', 'duration'],
  ['enteredAt', 'first_login_time', 'entered_at', 'minute'],
  ['leftAt', 'last_online_time', 'left_at', 'minute'],
]

/** Columns of watch records that version 1 does not deliver (API 4.6). */
export const columnsNotInV1: readonly string[] = ['assign_id', 'outer_id', 'live_seconds', 'vod_seconds']
export const oldRecordFields = recordFields.filter(([, , column]) => !columnsNotInV1.includes(column))

const accountFields: readonly Field<Manager>[] = [
  ['id', 'id', 'manager_id', 'id'],
  ['username', 'username', 'username', 'text'],
  ['belongTo', 'belong_to', 'main_account_id', 'id'],
  ['limitType', 'limit_type', 'limit_type', 'same'],
]

/** API 4.8. */
export const usageFields: readonly Field<Manager>[] = [
  ...accountFields,
  ['createdOn', 'create_date', 'created_on', 'same'],
  ['channelCount', 'act_num', 'channel_count', 'same'],
  ['lastLoginAt', 'last_login_time', 'last_login_at', 'second'],
  ['lastPushAt', 'last_push_stream_time', 'last_push_at', 'second'],
  ['notifiesCostLimit', 'cost_limit_notification', 'cost_limit_notification', 'flag'],
  ['outerId', 'outer_id', 'outer_id', 'text'],
  ['hasRedpack', 'is_open_redpack', 'redpack_enabled', 'same'],
  ['hasLiveNotify', 'is_open_live_notify', 'live_notify_enabled', 'same'],
  ['costType', 'costType', 'cost_type', 'text'],
  ['costLimit', 'costLimit', 'cost_limit', 'decimal'],
  ['costTotalWatch', 'costTotalWatchTime', 'cost_total_watch', 'decimal'],
  ['costVodWatch', 'costVodWatchTime', 'cost_vod_watch', 'decimal'],
  ['costLiveWatch', 'costLiveWatchTime', 'cost_live_watch', 'decimal'],
  ['costTransfer', 'costTransfer', 'cost_transfer', 'decimal'],
]

/** API 4.9. */
export const managerFields: readonly Field<Manager>[] = [
  ...accountFields,
  ['trafficLimit', 'transfer_limit', 'traffic_limit', 'decimal'],
  ['timeLimit', 'time_limit', 'time_limit', 'decimal'],
  ['payType', 'pay_type', 'pay_type', 'same'],
]

/** API 4.10, without `isOpen` and `createdAt`: how they are sent depends on a switch and on the time zone. */
export const questionnaireFields: readonly Field<Questionnaire>[] = [
  ['questionId', 'question_id', 'question_id', 'same'],
  ['name', 'name', 'name', 'text'],
  ['position', 'position', 'position', 'same'],
]

/** API 4.12, without the giver, whom not every row names. */
export const giftFields: readonly Field<Gift>[] = [
  ['giftId', 'gift_id', 'gift_id', 'decimal'],
  ['phone', 'phone', 'phone', 'text'],
  ['money', 'money', 'amount', 'same'],
  ['givenAt', 'uptime', 'given_at', 'second'],
]
export const giverFields: readonly Field<Gift>[] = [
  ['visitorId', 'visitor_id', 'visitor_id', 'text'],
  ['visitorName', 'name', 'visitor_name', 'text'],
]

/** Whether the row of a gift names its giver. */
export function showsGiver({ showsVisitor }: Gift, { giftVisitor }: Readonly<Switches>): boolean {
  return giftVisitor === 'always' || (giftVisitor === 'some' && showsVisitor)
}

/** Converts a value for the wire, and to what the warehouse must hold; `second` formats an instant. */
const kinds: Readonly<Record<Kind, { readonly wire: (value: Cell) => unknown; readonly truth: ToTruth }>> = {
  text: { wire: (value) => value, truth: (value) => (value === '' ? null : value) },
  same: { wire: (value) => value, truth: (value) => value },
  id: { wire: (value) => wireInteger(String(value)), truth: (value) => value },
  duration: { wire: (value) => wireDuration(Number(value)), truth: (value) => value },
  second: {
    wire: (value) => (value === null ? '' : formatWallTime(Number(value))),
    truth: (value, second) => second(Number(value)),
  },
  minute: {
    wire: (value) => formatWallTime(Number(value)).slice(0, 16),
    truth: (value, second) => second(floorToMinute(Number(value))),
  },
  flag: { wire: Number, truth: (value) => value },
  decimal: { wire: (value) => value, truth: String },
}
type ToTruth = (value: Cell, second: (time: WallTime) => string) => Cell

/** Makes the item that the service sends for a row. */
export function wireRow<Row>(fields: readonly Field<Row>[], row: Row): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  for (const [property, field, , kind] of fields) item[field] = kinds[kind].wire(cellOf(row[property]))
  return item
}

/** Makes the row that the warehouse must hold. @param second formats an instant */
export function truthRow<Row>(
  fields: readonly Field<Row>[],
  row: Row,
  second: (time: WallTime) => string,
): Record<string, Cell> {
  const cells = fields.map(([property, , column, kind]) => {
    const value = cellOf(row[property])
    return [column, value === null ? null : kinds[kind].truth(value, second)]
  })
  return Object.fromEntries(cells)
}

function cellOf(value: unknown): Cell {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

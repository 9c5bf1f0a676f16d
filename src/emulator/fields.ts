import type { Cell } from '../core/column.ts'
import { floorToMinute, formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Switches } from './switches.ts'
import { wireDuration, wireInteger } from './wire.ts'

/** How the service sends a value, and what the warehouse must hold. `Value`: the type of the value in the world. */
interface Kind<Value extends Cell> {
  readonly wire: (value: Cell) => unknown
  readonly truth: (value: Cell, format: (time: WallTime) => string) => Cell
  /** Never set. */
  readonly example?: Value
}

const kind = <Value extends Cell>(wire: Kind<Value>['wire'], truth: Kind<Value>['truth']): Kind<Value> => ({
  wire,
  truth,
})
const same = (value: Cell): Cell => value
const emptyAsNull = (value: Cell): Cell => (value === '' ? null : value)

const kinds = {
  text: kind<string>(same, emptyAsNull),
  optionalText: kind<string | null>(same, emptyAsNull),
  word: kind<string>(same, same),
  number: kind<number>(same, same),
  boolean: kind<boolean>(same, same),
  /** Decimal digits, also beyond 2^53; a number on the wire. */
  id: kind<string>((value) => wireInteger(String(value)), same),
  /** Seconds. */
  duration: kind<number>((value) => wireDuration(Number(value)), same),
  second: kind<WallTime>(
    (value) => formatWallTime(Number(value)),
    (value, format) => format(Number(value)),
  ),
  optionalSecond: kind<WallTime | null>(
    (value) => (value === null ? '' : formatWallTime(Number(value))),
    (value, format) => format(Number(value)),
  ),
  /** To the second in the world, to the minute on the wire. */
  minute: kind<WallTime>(
    (value) => formatWallTime(Number(value)).slice(0, 16),
    (value, format) => format(floorToMinute(Number(value))),
  ),
  flag: kind<boolean>(Number, same),
  decimal: kind<number>(same, String),
}

/** A property of the world's row, its field on the wire and its column in the warehouse. */
export type Field<Property extends string = string> = readonly [
  property: Property,
  field: string,
  column: string,
  kind: keyof typeof kinds,
]

/** The row of the world that has these fields. */
export type RowOf<Fields extends readonly Field[]> = {
  readonly [One in Fields[number] as One[0]]: Exclude<(typeof kinds)[One[3]]['example'], undefined>
}

const viewerFields = [
  ['userId', 'user_id', 'user_id', 'text'],
  ['assignId', 'assign_id', 'assign_id', 'optionalText'],
  ['outerId', 'outer_id', 'outer_id', 'optionalText'],
  ['nick', 'nick', 'nickname', 'text'],
  ['addr', 'addr', 'address', 'text'],
  ['phone', 'phone', 'phone', 'optionalText'],
  ['device', 'device', 'device', 'text'],
  ['browser', 'browser', 'browser', 'text'],
  ['watchSeconds', 'watch_time', 'watch_seconds', 'duration'],
  ['liveSeconds', 'live_time', 'live_seconds', 'duration'],
  ['vodSeconds', 'vod_time', 'vod_seconds', 'duration'],
] as const satisfies readonly Field[]

/** API 4.7. */
export const visitorFields = [
  ...viewerFields,
  ['refer', 'refer', 'access_source', 'text'],
  ['wxOpenid', 'wx_openid', 'wx_openid', 'optionalText'],
  ['lastIp', 'last_ip', 'last_ip', 'text'],
  ['visitTimes', 'visit_times', 'visit_count', 'number'],
  ['shareTimes', 'share_times', 'share_count', 'number'],
  ['commentCount', 'comment_count', 'comment_count', 'number'],
  ['liveSeconds', 'live_watch_time', 'live_watch_seconds', 'number'],
  ['vodSeconds', 'vod_watch_time', 'vod_watch_seconds', 'number'],
  ['onlineSeconds', 'online_time', 'online_seconds', 'number'],
  ['firstLoginAt', 'first_login_time', 'first_login_at', 'second'],
  ['lastOnlineAt', 'last_online_time', 'last_online_at', 'second'],
] as const satisfies readonly Field[]

/** API 4.5. */
export const recordFields = [
  ...viewerFields,
  ['recordId', 'record_id', 'record_id', 'id'],
  ['origin', 'origin', 'access_source', 'text'],
  ['onlineSeconds', 'online_time', 'online_seconds', 'duration'],
  ['enteredAt', 'first_login_time', 'entered_at', 'minute'],
  ['leftAt', 'last_online_time', 'left_at', 'minute'],
] as const satisfies readonly Field[]

/** Columns of watch records that version 1 does not deliver (API 4.6). */
export const columnsNotInV1: readonly string[] = ['assign_id', 'outer_id', 'live_seconds', 'vod_seconds']
export const oldRecordFields = recordFields.filter(([, , column]) => !columnsNotInV1.includes(column))

const accountFields = [
  ['id', 'id', 'manager_id', 'id'],
  ['username', 'username', 'username', 'text'],
  ['belongTo', 'belong_to', 'main_account_id', 'id'],
  ['limitType', 'limit_type', 'limit_type', 'number'],
] as const satisfies readonly Field[]

/** API 4.8. */
export const usageFields = [
  ...accountFields,
  ['createdOn', 'create_date', 'created_on', 'word'],
  ['channelCount', 'act_num', 'channel_count', 'number'],
  ['lastLoginAt', 'last_login_time', 'last_login_at', 'optionalSecond'],
  ['lastPushAt', 'last_push_stream_time', 'last_push_at', 'optionalSecond'],
  ['notifiesCostLimit', 'cost_limit_notification', 'cost_limit_notification', 'flag'],
  ['outerId', 'outer_id', 'outer_id', 'optionalText'],
  ['hasRedpack', 'is_open_redpack', 'redpack_enabled', 'boolean'],
  ['hasLiveNotify', 'is_open_live_notify', 'live_notify_enabled', 'boolean'],
  ['costType', 'costType', 'cost_type', 'text'],
  ['costLimit', 'costLimit', 'cost_limit', 'decimal'],
  ['costTotalWatch', 'costTotalWatchTime', 'cost_total_watch', 'decimal'],
  ['costVodWatch', 'costVodWatchTime', 'cost_vod_watch', 'decimal'],
  ['costLiveWatch', 'costLiveWatchTime', 'cost_live_watch', 'decimal'],
  ['costTransfer', 'costTransfer', 'cost_transfer', 'decimal'],
] as const satisfies readonly Field[]

/** API 4.9. */
export const managerFields = [
  ...accountFields,
  ['trafficLimit', 'transfer_limit', 'traffic_limit', 'decimal'],
  ['timeLimit', 'time_limit', 'time_limit', 'decimal'],
  ['payType', 'pay_type', 'pay_type', 'number'],
] as const satisfies readonly Field[]

/** API 4.10, without `isOpen` and `createdAt`: how they are sent depends on a switch and on the time zone. */
export const questionnaireFields = [
  ['questionId', 'question_id', 'question_id', 'word'],
  ['name', 'name', 'name', 'text'],
  ['position', 'position', 'position', 'number'],
] as const satisfies readonly Field[]

/** API 4.12, without the giver, whom not every row names. */
export const giftFields = [
  ['giftId', 'gift_id', 'gift_id', 'decimal'],
  ['phone', 'phone', 'phone', 'optionalText'],
  ['money', 'money', 'amount', 'word'],
  ['givenAt', 'uptime', 'given_at', 'second'],
] as const satisfies readonly Field[]
export const giverFields = [
  ['visitorId', 'visitor_id', 'visitor_id', 'text'],
  ['visitorName', 'name', 'visitor_name', 'text'],
] as const satisfies readonly Field[]

/** Whether the row of a gift names its giver. */
export function showsGiver(
  { showsVisitor }: { readonly showsVisitor: boolean },
  { giftVisitor }: Readonly<Switches>,
): boolean {
  return giftVisitor === 'always' || (giftVisitor === 'some' && showsVisitor)
}

/** Makes the item that the service sends for a row. */
export function wireRow<Property extends string>(
  fields: readonly Field<Property>[],
  row: Readonly<Record<Property, Cell>>,
): Record<string, unknown> {
  return Object.fromEntries(fields.map(([property, field, , name]) => [field, kinds[name].wire(row[property])]))
}

/** Makes the row that the warehouse must hold. @param format formats an instant */
export function truthRow<Property extends string>(
  fields: readonly Field<Property>[],
  row: Readonly<Record<Property, Cell>>,
  format: (time: WallTime) => string,
): Record<string, Cell> {
  const cells = fields.map(([property, , column, name]) => {
    const value = row[property]
    return [column, value === null ? null : kinds[name].truth(value, format)]
  })
  return Object.fromEntries(cells)
}

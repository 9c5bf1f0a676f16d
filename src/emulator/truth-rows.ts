import type { Cell } from '../core/column.ts'
import { floorToMinute, formatWallDate, type WallTime } from '../core/wall-clock.ts'
import type { Switches } from './switches.ts'
import type { Channel, Gift, Manager, Questionnaire, Signup, Visitor, WatchRecord } from './world/world.ts'

/** One row that the warehouse must hold; `answers` is the value of the jsonb column. */
export type TruthRow = Readonly<Record<string, Cell | readonly TruthAnswer[]>>

interface TruthAnswer {
  readonly question: string | null
  readonly answer: string | null
}

/** What the rows of a world depend on besides it. */
export interface Reading {
  readonly switches: Readonly<Switches>
  readonly second: (time: WallTime) => string
}

/** What version 1 of the watch records does not know. */
export const withoutV1Fields = {
  assign_id: null,
  outer_id: null,
  live_seconds: null,
  vod_seconds: null,
  api_version: 1,
}

function text(value: string | null): string | null {
  return value === '' ? null : value
}

/** Name and administrator are told by the visitors alone (API 2.5). */
export function channelRow({ id, name, adminId, visitors }: Channel): TruthRow {
  const isKnown = visitors.rows.length > 0
  return { channel_id: id, name: isKnown ? text(name) : null, admin_id: isKnown ? adminId : null }
}

/** API 4.7. */
export function visitorRow({ id }: Channel, row: Visitor, { second }: Reading): TruthRow {
  return {
    channel_id: id,
    user_id: row.userId,
    assign_id: text(row.assignId),
    outer_id: text(row.outerId),
    nickname: text(row.nick),
    address: text(row.addr),
    phone: text(row.phone),
    access_source: text(row.refer),
    device: text(row.device),
    browser: text(row.browser),
    wx_openid: text(row.wxOpenid),
    last_ip: text(row.lastIp),
    visit_count: row.visitTimes,
    share_count: row.shareTimes,
    comment_count: row.commentCount,
    watch_seconds: row.watchSeconds,
    live_seconds: row.liveSeconds,
    vod_seconds: row.vodSeconds,
    live_watch_seconds: row.liveSeconds,
    vod_watch_seconds: row.vodSeconds,
    online_seconds: row.onlineSeconds,
    first_login_at: second(row.firstLoginAt),
    last_online_at: second(row.lastOnlineAt),
  }
}

/** API 4.5. */
export function recordRow({ id }: Channel, row: WatchRecord, { second }: Reading): TruthRow {
  return {
    channel_id: id,
    record_id: row.recordId,
    user_id: text(row.userId),
    assign_id: text(row.assignId),
    outer_id: text(row.outerId),
    nickname: text(row.nick),
    address: text(row.addr),
    phone: text(row.phone),
    device: text(row.device),
    browser: text(row.browser),
    access_source: text(row.origin),
    online_seconds: row.onlineSeconds,
    watch_seconds: row.watchSeconds,
    live_seconds: row.liveSeconds,
    vod_seconds: row.vodSeconds,
    entered_at: second(floorToMinute(row.enteredAt)),
    left_at: second(floorToMinute(row.leftAt)),
    api_version: 2,
  }
}

/** API 4.12, of one channel. */
export function giftRows(channel: Channel, { switches, second }: Reading): TruthRow[] {
  const rows = channel.gifts.rows.map((row: Gift) => {
    const isShown = switches.giftVisitor === 'always' || (switches.giftVisitor === 'some' && row.showsVisitor)
    return {
      channel_id: channel.id,
      gift_type: row.type,
      given_at: second(row.givenAt),
      gift_id: String(row.giftId),
      visitor_id: isShown ? text(row.visitorId) : null,
      visitor_name: isShown ? text(row.visitorName) : null,
      phone: text(row.phone),
      amount: row.money,
    }
  })
  return numberOccurrences(
    rows,
    (row) => [row.gift_type, row.given_at, row.gift_id, row.amount],
    (row) => [row.visitor_id, row.visitor_name, row.phone],
  )
}

/** API 4.10. */
export function questionnaireRow({ id }: Channel, row: Questionnaire, { second }: Reading): TruthRow {
  return {
    channel_id: id,
    question_id: row.questionId,
    name: text(row.name),
    position: row.position,
    is_open: row.isOpen,
    created_at: second(row.createdAt),
  }
}

/** API 4.11: each row with those of its answers. */
export function signupRows(channel: Channel, reading: Reading) {
  return channel.questionnaires.rows.flatMap((form) => {
    const rows = form.signups.rows.map((row) => signupRow(channel, form, row, reading))
    const numbered = numberOccurrences(
      rows,
      (row) => [row.user_id, row.signed_up_at],
      (row) => [row.nickname, row.phone, ...row.answers.map(({ answer }) => answer)],
    )
    return numbered.map((row) => ({ row, answers: answerRows(row) }))
  })
}

function signupRow({ id }: Channel, form: Questionnaire, row: Signup, { second }: Reading) {
  return {
    channel_id: id,
    question_id: form.questionId,
    user_id: text(row.userId),
    nickname: text(row.nick),
    phone: text(row.phone),
    signed_up_at: second(row.signedUpAt),
    answers: form.questions.map((question, index) => ({
      question: text(question),
      answer: text(row.answers[index] ?? ''),
    })),
  }
}

function answerRows(row: ReturnType<typeof signupRow> & { readonly occurrence: number }): TruthRow[] {
  const { channel_id, question_id, user_id, signed_up_at, occurrence } = row
  const parent = { channel_id, question_id, user_id, signed_up_at, occurrence }
  return row.answers.map(({ question, answer }, index) => ({ ...parent, question_no: index + 1, question, answer }))
}

/** API 4.9. */
export function managerRow(row: Manager): TruthRow {
  return {
    manager_id: row.id,
    username: text(row.username),
    main_account_id: row.belongTo,
    limit_type: row.limitType,
    traffic_limit: String(row.trafficLimit),
    time_limit: String(row.timeLimit),
    pay_type: row.payType,
  }
}

/** API 4.8. */
export function usageRow(row: Manager, now: WallTime, { second }: Reading): TruthRow {
  return {
    manager_id: row.id,
    snapshot_date: formatWallDate(now),
    username: text(row.username),
    created_on: row.createdOn,
    main_account_id: row.belongTo,
    channel_count: row.channelCount,
    last_login_at: row.lastLoginAt === null ? null : second(row.lastLoginAt),
    last_push_at: row.lastPushAt === null ? null : second(row.lastPushAt),
    cost_limit_notification: row.notifiesCostLimit,
    limit_type: row.limitType,
    outer_id: text(row.outerId),
    redpack_enabled: row.hasRedpack,
    live_notify_enabled: row.hasLiveNotify,
    cost_type: text(row.costType),
    cost_limit: String(row.costLimit),
    cost_total_watch: String(row.costTotalWatch),
    cost_vod_watch: String(row.costVodWatch),
    cost_live_watch: String(row.costLiveWatch),
    cost_transfer: String(row.costTransfer),
  }
}

/**
 * Numbers rows without an id, 1, 2 … among those of equal identity: ordered by their remaining values, null before any text,
 * texts by code unit.
 */
function numberOccurrences<Item extends object>(
  rows: readonly Item[],
  identityOf: (row: Item) => readonly (string | null)[],
  remainderOf: (row: Item) => readonly (string | null)[],
): (Item & { readonly occurrence: number })[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(identityOf(row)))
  return [...groups.values()].flatMap((group) =>
    group
      .sort((a, b) => compareTexts(remainderOf(a), remainderOf(b)))
      .map((row, index) => ({ ...row, occurrence: index + 1 })),
  )
}

function compareTexts(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null
    if (left === right) continue
    if (left === null) return -1
    if (right === null) return 1
    return left < right ? -1 : 1
  }
  return 0
}

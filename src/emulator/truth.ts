import type { Cell } from '../core/column.ts'
import { floorToMinute, formatWallDate, type WallTime } from '../core/wall-clock.ts'
import type { Switches } from './switches.ts'
import { numberOccurrences } from './occurrence.ts'
import type { Channel, Gift, Manager, Questionnaire, Signup, Visitor, WatchRecord, World } from './world/world.ts'
import { createInstantReader } from './zone.ts'

/** One row that the warehouse must hold; `answers` is the value of the jsonb column. */
export type TruthRow = Readonly<Record<string, Cell | readonly TruthAnswer[]>>

export interface TruthAnswer {
  readonly question: string | null
  readonly answer: string | null
}

export const truthTables = [
  'channels',
  'visitors',
  'watch_records',
  'watch_records_v1',
  'gifts',
  'questionnaires',
  'signups',
  'signup_answers',
  'managers',
  'manager_usage',
] as const

export type TruthTable = (typeof truthTables)[number]

/**
 * What the warehouse must hold of this world, by table, with the contract's column names (section 3): durations in seconds,
 * money and bigint as text, times as `YYYY-MM-DDTHH:MM:SSZ`, dates as `YYYY-MM-DD`, null for empty. `watch_records_v1` is what
 * only version 1 delivers. Signup answers name their parent by `user_id`, `signed_up_at` and `occurrence`.
 */
export type Truth = Readonly<Record<TruthTable, readonly TruthRow[]>>

interface Reading {
  readonly switches: Readonly<Switches>
  readonly second: (time: WallTime) => string
}

/** @param now the service's wall clock, for `snapshot_date`. */
export function readTruth(world: World, switches: Readonly<Switches>, now: WallTime): Truth {
  const toInstant = createInstantReader(world.timeZone)
  const second = (time: WallTime) => `${new Date(toInstant(time) * 1000).toISOString().slice(0, 19)}Z`
  const reading: Reading = { switches, second }
  const channels = [...world.channels.values()]
  const signups = channels.flatMap((channel) => signupRows(channel, reading))
  return {
    channels: channels.map(channelRow),
    visitors: channels.flatMap((channel) => channel.visitors.rows.map((row) => visitorRow(channel, row, reading))),
    watch_records: channels.flatMap((channel) => channel.records.rows.map((row) => recordRow(channel, row, reading))),
    watch_records_v1: channels.flatMap((channel) =>
      channel.oldRecords.rows.map((row) => ({ ...recordRow(channel, row, reading), ...withoutV1Fields })),
    ),
    gifts: channels.flatMap((channel) => giftRows(channel, reading)),
    questionnaires: channels.flatMap((channel) =>
      channel.questionnaires.rows.map((row) => questionnaireRow(channel, row, reading)),
    ),
    signups: signups.map(({ row }) => row),
    signup_answers: signups.flatMap(({ answers }) => answers),
    managers: world.managers.rows.map(managerRow),
    manager_usage: world.managers.rows.map((row) => usageRow(row, now, reading)),
  }
}

/** How many rows each table must hold, without building them. */
export function countTruth(world: World): Readonly<Record<TruthTable, number>> {
  const channels = [...world.channels.values()]
  const sum = (count: (channel: Channel) => number) => channels.reduce((total, channel) => total + count(channel), 0)
  const perForm = (channel: Channel, count: (form: Questionnaire) => number) =>
    channel.questionnaires.rows.reduce((total, form) => total + count(form), 0)
  return {
    channels: channels.length,
    visitors: sum((channel) => channel.visitors.rows.length),
    watch_records: sum((channel) => channel.records.rows.length),
    watch_records_v1: sum((channel) => channel.oldRecords.rows.length),
    gifts: sum((channel) => channel.gifts.rows.length),
    questionnaires: sum((channel) => channel.questionnaires.rows.length),
    signups: sum((channel) => perForm(channel, (form) => form.signups.rows.length)),
    signup_answers: sum((channel) => perForm(channel, (form) => form.signups.rows.length * form.questions.length)),
    managers: world.managers.rows.length,
    manager_usage: world.managers.rows.length,
  }
}

const withoutV1Fields = { assign_id: null, outer_id: null, live_seconds: null, vod_seconds: null, api_version: 1 }

function text(value: string | null): string | null {
  return value === '' ? null : value
}

/** Name and administrator are told by the visitors alone (API 2.5). */
function channelRow({ id, name, adminId, visitors }: Channel): TruthRow {
  const isKnown = visitors.rows.length > 0
  return { channel_id: id, name: isKnown ? text(name) : null, admin_id: isKnown ? adminId : null }
}

function visitorRow({ id }: Channel, row: Visitor, { second }: Reading): TruthRow {
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

function recordRow({ id }: Channel, row: WatchRecord, { second }: Reading): TruthRow {
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

function giftRows(channel: Channel, { switches, second }: Reading): TruthRow[] {
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

function questionnaireRow({ id }: Channel, row: Questionnaire, { second }: Reading): TruthRow {
  return {
    channel_id: id,
    question_id: row.questionId,
    name: text(row.name),
    position: row.position,
    is_open: row.isOpen,
    created_at: second(row.createdAt),
  }
}

function signupRows(channel: Channel, reading: Reading) {
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

function managerRow(row: Manager): TruthRow {
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

function usageRow(row: Manager, now: WallTime, { second }: Reading): TruthRow {
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

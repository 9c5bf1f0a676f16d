import type { Switches } from './switches.ts'
import { createInstantReader, wireDuration, wireInteger, wireMinute, wireSecond } from './wire.ts'
import type { Channel, Gift, Manager, Questionnaire, Signup, Visitor, WatchRecord } from './world/world.ts'

/** API 4.7. */
export function wireVisitor(row: Visitor, channel: Channel): object {
  return {
    id: wireInteger(channel.id),
    uin: wireInteger(channel.adminId),
    name: channel.name,
    addr: row.addr,
    user_id: row.userId,
    assign_id: row.assignId,
    outer_id: row.outerId,
    nick: row.nick,
    watch_time: wireDuration(row.watchSeconds),
    live_time: wireDuration(row.liveSeconds),
    vod_time: wireDuration(row.vodSeconds),
    phone: row.phone,
    refer: row.refer,
    visit_times: row.visitTimes,
    first_login_time: wireSecond(row.firstLoginAt),
    last_online_time: wireSecond(row.lastOnlineAt),
    device: row.device,
    browser: row.browser,
    last_ip: row.lastIp,
    share_times: row.shareTimes,
    comment_count: row.commentCount,
    wx_openid: row.wxOpenid,
    live_watch_time: row.liveSeconds,
    vod_watch_time: row.vodSeconds,
    ad_watch_time: 0,
    online_time: row.onlineSeconds,
  }
}

/** API 4.5. */
export function wireWatchRecord(row: WatchRecord) {
  return {
    record_id: wireInteger(row.recordId),
    assign_id: row.assignId,
    user_id: row.userId,
    outer_id: row.outerId,
    nick: row.nick,
    addr: row.addr,
    online_time: wireDuration(row.onlineSeconds),
    watch_time: wireDuration(row.watchSeconds),
    live_time: wireDuration(row.liveSeconds),
    vod_time: wireDuration(row.vodSeconds),
    phone: row.phone,
    first_login_time: wireMinute(row.enteredAt),
    last_online_time: wireMinute(row.leftAt),
    device: row.device,
    browser: row.browser,
    origin: row.origin,
  }
}

/** API 4.6: the same without what version 1 does not know. */
export function wireWatchRecordV1(row: WatchRecord): object {
  const { assign_id: _a, outer_id: _b, live_time: _c, vod_time: _d, ...old } = wireWatchRecord(row)
  return old
}

/** API 4.8. */
export function wireManagerUsage(row: Manager): object {
  return {
    id: wireInteger(row.id),
    username: row.username,
    create_date: row.createdOn,
    belong_to: wireInteger(row.belongTo),
    act_num: row.channelCount,
    last_login_time: row.lastLoginAt === null ? '' : wireSecond(row.lastLoginAt),
    last_push_stream_time: row.lastPushAt === null ? '' : wireSecond(row.lastPushAt),
    cost_limit_notification: row.notifiesCostLimit ? 1 : 0,
    limit_type: row.limitType,
    outer_id: row.outerId,
    is_open_redpack: row.hasRedpack,
    is_open_live_notify: row.hasLiveNotify,
    costType: row.costType,
    costLimit: row.costLimit,
    costTotalWatchTime: row.costTotalWatch,
    costVodWatchTime: row.costVodWatch,
    costLiveWatchTime: row.costLiveWatch,
    costTransfer: row.costTransfer,
  }
}

/** API 4.9. */
export function wireManager(row: Manager): object {
  return {
    id: wireInteger(row.id),
    limit_type: row.limitType,
    transfer_limit: row.trafficLimit,
    time_limit: row.timeLimit,
    username: row.username,
    belong_to: wireInteger(row.belongTo),
    pay_type: row.payType,
  }
}

/** API 4.10. */
export function wireQuestionnaire(
  row: Questionnaire,
  timeZone: string,
  { questionnaireStatus }: Readonly<Switches>,
): object {
  return {
    question_id: row.questionId,
    name: row.name,
    position: row.position,
    status: questionnaireStatus === 'boolean' ? row.isOpen : Number(row.isOpen),
    created_at: withOffset(row.createdAt, timeZone),
  }
}

/** RFC 3339 with the zone's offset: `2026-11-20T14:03:00+08:00`. */
function withOffset(wallTime: number, timeZone: string): string {
  const minutes = (wallTime - createInstantReader(timeZone)(wallTime)) / 60
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return `${wireSecond(wallTime).replace(' ', 'T')}${offset}`
}

/** The headers of 4.11. */
export function signupTitle(form: Questionnaire): readonly string[] {
  return ['用户ID', '昵称', '手机号', ...form.questions, '报名时间']
}

/** API 4.11. */
export function wireSignup(row: Signup): readonly string[] {
  return [row.userId, row.nick, row.phone, ...row.answers, wireSecond(row.signedUpAt)]
}

/** API 4.12. */
export function wireGift(row: Gift, { giftVisitor }: Readonly<Switches>): object {
  const isShown = giftVisitor === 'always' || (giftVisitor === 'some' && row.showsVisitor)
  return {
    ...(isShown ? { visitor_id: row.visitorId, name: row.visitorName } : {}),
    gift_id: row.giftId,
    phone: row.phone,
    money: row.money,
    uptime: wireSecond(row.givenAt),
  }
}

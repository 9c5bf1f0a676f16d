import type { WallTime } from '../../core/wall-clock.ts'
import type { RowList } from './row-list.ts'

/** All data of one account in the emulated service. Tests change it while the emulator runs. */
export interface World {
  readonly timeZone: string
  /** Where the generated history ends. */
  readonly endsAt: WallTime
  readonly channels: Map<string, Channel>
  readonly managers: RowList<Manager>
  /** The videos of this account, for menus (API 4.3). */
  readonly videoIds: Set<number>
}

export interface Channel {
  /** Decimal digits. */
  readonly id: string
  /** The short id of login tickets (API 4.2, hash_act_id). */
  readonly hashId: string
  name: string
  adminId: string
  readonly visitors: RowList<Visitor>
  readonly records: RowList<WatchRecord>
  /** Old records that only version 1 delivers (API 4.6). */
  readonly oldRecords: RowList<WatchRecord>
  readonly gifts: RowList<Gift>
  readonly questionnaires: RowList<Questionnaire>
  readonly menus: Map<number, Menu>
}

/** The fields that visitors and their visits share. Empty text and null are as the service sends them. */
export interface Viewer {
  readonly userId: string
  readonly assignId: string | null
  readonly outerId: string | null
  readonly nick: string
  readonly addr: string
  readonly phone: string | null
  readonly device: string
  readonly browser: string
  readonly onlineSeconds: number
  readonly watchSeconds: number
  readonly liveSeconds: number
  readonly vodSeconds: number
}

export interface Visitor extends Viewer {
  readonly refer: string
  readonly lastIp: string
  readonly wxOpenid: string | null
  readonly visitTimes: number
  readonly shareTimes: number
  readonly commentCount: number
  readonly firstLoginAt: WallTime
  readonly lastOnlineAt: WallTime
}

export interface WatchRecord extends Viewer {
  /** Decimal digits, also beyond 2^53. */
  readonly recordId: string
  readonly origin: string
  /** To the second; the service sends it to the minute. */
  readonly enteredAt: WallTime
  readonly leftAt: WallTime
}

export interface Gift {
  readonly type: 'cash' | 'prop'
  readonly giftId: number
  readonly visitorId: string
  readonly visitorName: string
  readonly phone: string | null
  /** Decimal text with two decimals. */
  readonly money: string
  readonly givenAt: WallTime
  /** Whether the row has visitor_id and name when the switch `giftVisitor` is `some`. */
  readonly showsVisitor: boolean
}

export interface Questionnaire {
  readonly questionId: string
  readonly name: string
  readonly position: 0 | 1
  readonly isOpen: boolean
  readonly createdAt: WallTime
  /** The headers between phone and signup time. */
  readonly questions: readonly string[]
  readonly signups: RowList<Signup>
}

export interface Signup {
  readonly userId: string
  readonly nick: string
  readonly phone: string
  readonly answers: readonly string[]
  readonly signedUpAt: WallTime
}

/** An account as the lists of managers and of their usage show it (API 2.6 and 2.7). */
export interface Manager {
  readonly id: string
  readonly username: string
  readonly belongTo: string
  readonly limitType: 1 | 2
  readonly trafficLimit: number
  readonly timeLimit: number
  readonly payType: number
  /** `YYYY-MM-DD`. */
  readonly createdOn: string
  readonly channelCount: number
  readonly lastLoginAt: WallTime | null
  readonly lastPushAt: WallTime | null
  readonly notifiesCostLimit: boolean
  readonly outerId: string | null
  readonly hasRedpack: boolean
  readonly hasLiveNotify: boolean
  readonly costType: string
  readonly costLimit: number
  readonly costTotalWatch: number
  readonly costVodWatch: number
  readonly costLiveWatch: number
  readonly costTransfer: number
}

export interface Menu {
  readonly menuId: number
  readonly name: string
  readonly type: number
  readonly richText: string
  readonly videoIds: readonly number[]
}

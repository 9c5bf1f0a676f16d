import type { WallTime } from '../../core/wall-clock.ts'
import type {
  giftFields,
  giverFields,
  managerFields,
  questionnaireFields,
  RowOf,
  recordFields,
  usageFields,
  visitorFields,
} from '../fields.ts'
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

// Empty text and null are as the service sends them.
export type Visitor = RowOf<typeof visitorFields>
export type WatchRecord = RowOf<typeof recordFields>
/** An account as the lists of managers and of their usage show it (API 2.6 and 2.7). */
export type Manager = RowOf<typeof usageFields> & RowOf<typeof managerFields>

export interface Gift extends RowOf<typeof giftFields>, RowOf<typeof giverFields> {
  readonly type: 'cash' | 'prop'
  /** Whether the row has visitor_id and name when the switch `giftVisitor` is `some`. */
  readonly showsVisitor: boolean
}

export interface Questionnaire extends RowOf<typeof questionnaireFields> {
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

export interface Menu {
  readonly menuId: number
  readonly name: string
  readonly type: number
  readonly richText: string
  readonly videoIds: readonly number[]
}

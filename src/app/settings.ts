import type { BiSettings } from '../bi/bi-settings.ts'
import type { Language } from '../core/column.ts'
import { DAY, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import type { BudgetSettings } from '../ledger/call-budget.ts'
import type { ServiceAccess } from '../service/connect.ts'
import type { PlannedChannel } from '../sync/plan-slices.ts'

/** The service and how to call it. */
export interface ServiceSettings extends ServiceAccess, BudgetSettings {
  /** Whether an operator has said where list parameters belong: then that place is tried first. */
  readonly isListParamsGiven: boolean
  /** Of the items of a slice, from 0 to 100: more of them that cannot be read fail it. */
  readonly maxUnreadablePercent: number
}

/** A Postgres URL, or the embedded PostgreSQL of the data directory. */
export type DatabaseTarget = { readonly kind: 'url'; readonly url: string } | { readonly kind: 'embedded' }

/** The warehouse: which database, and whether commands migrate it by themselves. */
export interface DatabaseSettings {
  readonly target: DatabaseTarget
  /** Where its URL comes from, when not from `DATABASE_URL`. */
  readonly from?: string
  /** The Postgres that carries the queue; the warehouse's when not given. */
  readonly queueUrl?: string | undefined
  readonly dataDir: string
  readonly isAutoMigrated: boolean
  /** What the analysts' views show; what is not given stays as the database has it. */
  readonly bi?: BiSettings | undefined
}

/** One configured channel (`LIVEHOUSE_CHANNELS`); all but the id only from CSV. */
export interface ChannelSetting {
  readonly channelId: string
  readonly label: string | null
  readonly group: string | null
  /** Dates of the service's calendar, `YYYY-MM-DD`. */
  readonly from: string | null
  readonly until: string | null
  readonly isTest: boolean
}

/** Where alerts go, and in which shape. */
export interface AlertSettings {
  /** The whole address, which may carry a key: never shown. Null: no alerts. */
  readonly webhook: string | null
  readonly format: 'json' | 'dingtalk' | 'wecom' | 'feishu' | 'slack'
  /** Signs what is sent, where the format knows a signature: DingTalk and Feishu robots, and plain JSON. */
  readonly secret: string | null
  /** A word that the robot insists on. */
  readonly keyword: string | null
  readonly language: Language
  /** Asked after each green job; never shown. */
  readonly heartbeatUrl: string | null
}

/** What a verb that reads from the service needs to know. */
export interface ExtractionSettings {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings
  /** Every configured channel. */
  readonly configured: readonly ChannelSetting[]
  /** Those to be read. */
  readonly channels: readonly PlannedChannel[]
  readonly historyFrom: WallTime
  readonly alerts: AlertSettings
}

/** A configured channel as the planner takes it: from the start of the day `from` to the end of the day `until`. */
export function plannedChannel({ channelId, from, until }: ChannelSetting): PlannedChannel {
  return {
    channelId,
    from: from === null ? undefined : parseWallTime(from),
    until: until === null ? undefined : (parseWallTime(until) ?? 0) + DAY,
  }
}

/** From when and until when each configured channel is read; no bounds for others. */
export function rangeOfChannels(configured: readonly ChannelSetting[]) {
  const ranges = new Map(configured.map((channel) => [channel.channelId, plannedChannel(channel)]))
  return (channelId: string) => ranges.get(channelId) ?? {}
}

import type { BiSettings } from '../bi/bi-settings.ts'
import type { Language } from '../core/column.ts'
import { DAY, parseWallTime, type WallTime } from '../core/wall-clock.ts'
import type { BudgetSettings } from '../ledger/call-budget.ts'
import type { ServiceAccess } from '../service/connect.ts'
import type { PlannedChannel } from '../sync/plan-slices.ts'

/** The service and how to call it. */
export interface ServiceSettings extends ServiceAccess, BudgetSettings {
  /** Whether the operator has set the place of list parameters. */
  readonly isListParamsGiven: boolean
  /** From 0 to 100: a slice fails if a larger share of its items cannot be read. */
  readonly maxUnreadablePercent: number
}

/** A Postgres URL, or the embedded PostgreSQL of the data directory. */
export type DatabaseTarget = { readonly kind: 'url'; readonly url: string } | { readonly kind: 'embedded' }

/** The warehouse database, and whether commands apply pending migrations. */
export interface DatabaseSettings {
  readonly target: DatabaseTarget
  /** Where the URL came from, for messages; if not given, `DATABASE_URL` or the embedded PostgreSQL. */
  readonly from?: string
  /** The Postgres that holds the queue; the warehouse if not given. */
  readonly queueUrl?: string | undefined
  readonly dataDir: string
  readonly isAutoMigrated: boolean
  /** Settings of the analysts' views; if not given, those in the database stay. */
  readonly bi?: BiSettings | undefined
}

/** A channel of `LIVEHOUSE_CHANNELS`; only CSV sets more than its id. */
export interface ChannelSetting {
  readonly channelId: string
  readonly label: string | null
  readonly group: string | null
  /** Dates of the service's calendar, `YYYY-MM-DD`. */
  readonly from: string | null
  readonly until: string | null
  readonly isTest: boolean
}

/** Where to send alerts, and in which format. */
export interface AlertSettings {
  /** The URL; never shown, as it may contain a key. Null for no alerts. */
  readonly webhook: string | null
  readonly format: 'json' | 'dingtalk' | 'wecom' | 'feishu' | 'slack'
  /** Signs alerts, in formats with a signature: DingTalk, Feishu and plain JSON. */
  readonly secret: string | null
  /** A word that the chat robot requires in each message. */
  readonly keyword: string | null
  readonly language: Language
  /** Requested after each green job; never shown. */
  readonly heartbeatUrl: string | null
}

/** The settings of a verb that reads from the service. */
export interface ExtractionSettings {
  readonly service: ServiceSettings
  readonly database: DatabaseSettings
  readonly configured: readonly ChannelSetting[]
  /** The channels to read. */
  readonly channels: readonly PlannedChannel[]
  readonly historyFrom: WallTime
  readonly alerts: AlertSettings
}

/** A configured channel in the planner's terms: from the start of day `from` to the end of day `until`. */
export function toPlannedChannel({ channelId, from, until }: ChannelSetting): PlannedChannel {
  return {
    channelId,
    from: from === null ? undefined : parseWallTime(from),
    until: until === null ? undefined : (parseWallTime(until) ?? 0) + DAY,
  }
}

/** Returns a function from a channel id to the configured range to read; no bounds if the channel is not configured. */
export function rangeOfChannels(configured: readonly ChannelSetting[]) {
  const ranges = new Map(configured.map((channel) => [channel.channelId, toPlannedChannel(channel)]))
  return (channelId: string) => ranges.get(channelId) ?? {}
}

/** The process environment with `.env` and `NAME_FILE` values filled in. Read once, by `readEnvironment`. */
export type Environment = Readonly<Record<string, string | undefined>>

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

/** The service and how to speak to it. */
export interface ServiceSettings {
  /** As written, without a trailing slash. */
  readonly baseUrl: string
  readonly authUrl: string | null
  readonly appId: string | null
  readonly appSecret: string | null
  readonly apiToken: string | null
  readonly timeZone: string
  readonly maxCallsPerSecond: number
  readonly concurrency: number
  readonly listParams: 'query' | 'body'
  readonly v1Budget: number
  readonly v1BudgetScope: 'account' | 'channel'
  readonly requestTimeoutMs: number
  readonly proxies: { readonly http: string | null; readonly https: string | null; readonly none: string | null }
}

export interface DatabaseSettings {
  /** A Postgres URL, or the embedded PostgreSQL of `dataDir`. */
  readonly target: { readonly kind: 'url'; readonly url: string } | { readonly kind: 'embedded' }
  readonly dataDir: string
  readonly isAutoMigrated: boolean
}

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

/** A channel and where it stands, such as `channels.csv line 3: `. */
export interface PlacedChannel {
  readonly place: string
  readonly channel: ChannelSetting
}

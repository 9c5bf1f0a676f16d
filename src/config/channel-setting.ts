import type { ChannelSetting } from '../app/settings.ts'

/** A channel and where it stands, such as `channels.csv line 3: `. */
export interface PlacedChannel {
  readonly place: string
  readonly channel: ChannelSetting
}

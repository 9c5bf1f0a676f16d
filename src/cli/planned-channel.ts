import type { ChannelSetting } from '../config/channel-setting.ts'
import { DAY, parseWallTime } from '../core/wall-clock.ts'
import type { PlannedChannel } from '../pipeline/partitions.ts'

/** A configured channel as the planner takes it: from the start of the day `from` to the end of the day `until`. */
export function plannedChannel({ channelId, from, until }: ChannelSetting): PlannedChannel {
  return {
    channelId,
    from: from === null ? undefined : parseWallTime(from),
    until: until === null ? undefined : (parseWallTime(until) ?? 0) + DAY,
  }
}

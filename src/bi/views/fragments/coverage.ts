/** The view of the covered ranges of each channel: multiranges of local time. */
export const channelCoverage = 'livehouse_ops.channel_coverage'

/** Whether a multirange of local time contains a whole day. */
export function holdsDay(ranges: string, day: string): string {
  return `coalesce(${ranges} @> tsrange(${day}::timestamp, (${day} + 1)::timestamp), false)`
}

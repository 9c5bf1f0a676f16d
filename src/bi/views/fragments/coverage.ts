/** The ranges covered of each channel: multiranges of the service's wall clock. */
export const channelCoverage = 'livehouse_ops.channel_coverage'

/** Whether the visitor list of the channel `c` has been read since a day. */
export function isListRead(day: string): string {
  return `coalesce(c.viewers_read_at >= ((${day} + 1)::timestamp at time zone '{zone}'), false)`
}

/** Whether a whole day of the service lies within a multirange. */
export function holdsDay(ranges: string, day: string): string {
  return `coalesce(${ranges} @> tsrange(${day}::timestamp, (${day} + 1)::timestamp), false)`
}

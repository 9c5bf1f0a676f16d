/** The ranges covered of each channel: multiranges of the service's wall clock. */
export const channelCoverage = 'livehouse_ops.channel_coverage'

/** Whether a whole day of the service lies within a multirange. */
export function holdsDay(ranges: string, day: string): string {
  return `coalesce(${ranges} @> tsrange(${day}::timestamp, (${day} + 1)::timestamp), false)`
}

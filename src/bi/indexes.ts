import { isOvernight } from './fragments/audience.ts'
import { localDay } from './fragments/local-time.ts'

/** By name; `{zone}` stands for the service's zone, which is why no migration makes them. */
const indexes = {
  // Filters on the day of fct_watch, fct_viewer_day, fct_audience_minute and daily_channel.
  watch_records_day: `livehouse.watch_records (channel_id, (${localDay('entered_at')}))`,
  // The few records that last into another day (fct_audience_minute, peaks of daily_channel).
  watch_records_overnight: `livehouse.watch_records (channel_id, (${localDay('left_at')})) where ${isOvernight('watch_records').replaceAll('watch_records.', '')}`,
} as const

/** Makes the indexes on days that are not there yet. */
export function biIndexes(timeZone: string): readonly string[] {
  return Object.entries(indexes).map(([name, on]) =>
    `create index if not exists ${name} on ${on}`.replaceAll('{zone}', timeZone.replaceAll("'", "''")),
  )
}

/** Takes them away, such as those of another zone. */
export const dropIndexes: readonly string[] = Object.keys(indexes).map(
  (name) => `drop index if exists livehouse.${name}`,
)

import { overnight } from './fragments/audience.ts'
import { localDay } from './fragments/local-time.ts'

/** By name; `{zone}` stands for the service's zone, which is why no migration makes them. */
const indexes = {
  // Filters on the day of fct_watch, fct_viewer_day, fct_audience_minute and daily_channel.
  watch_records_day_channel: `livehouse.watch_records ((${localDay('entered_at')}), channel_id)`,
  // The few records that last into another day (fct_audience_minute, peaks of daily_channel).
  watch_records_overnight:
    `livehouse.watch_records (channel_id, (${overnight.reach}), (${overnight.leaveDay})) where ${overnight.where}`.replaceAll(
      'w.',
      '',
    ),
} as const

/** The definition of each index by its name. */
export function biIndexes(timeZone: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(indexes).map(([name, on]) => [name, on.replaceAll('{zone}', timeZone.replaceAll("'", "''"))]),
  )
}

/** Makes those that are not there, and anew those of another zone or version. @param present the definition that each was made by */
export function createIndexes(timeZone: string, present: ReadonlyMap<string, string | null>): readonly string[] {
  return [...biIndexes(timeZone)].flatMap(([name, on]) => {
    if (present.get(name) === on) return []
    // The definition is kept as the comment: Postgres gives it back in words of its own.
    const comment = `comment on index livehouse.${name} is '${on.replaceAll("'", "''")}'`
    return [`drop index if exists livehouse.${name}`, `create index ${name} on ${on}`, comment]
  })
}

/** Takes them away. */
export const dropIndexes: readonly string[] = Object.keys(indexes).map(
  (name) => `drop index if exists livehouse.${name}`,
)
